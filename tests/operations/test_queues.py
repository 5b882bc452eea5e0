"""Queues: everybody sees what waits of their own; only an admin pauses one for the whole fleet."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.errors import Forbidden, InvalidValue
from tests.operations.fleet import ACME, ADMIN, SUPPORT, app, worker
from tests.stores.scenes import START, claim, new_job


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def store():
    return app.store


@pytest.fixture
def two_tenants(store):
    """Two jobs of acme and one of globex are due, one of acme is parked, and a queue is globex's alone."""
    later = START + 3_600_000_000
    store.jobs.enqueue([
        new_job(tenant="acme"), new_job(tenant="acme"), new_job(tenant="acme", run_at=later), new_job(tenant="globex"),
        new_job(tenant="globex", queue="secret"),
    ])  # fmt: skip


@pytest.mark.usefixtures("two_tenants")
def test_an_admin_sees_every_queue_with_its_counts_its_workers_and_its_pause(store):
    store.workers.register(worker(), ["default"], [])
    queues = app.operations(ADMIN).queues
    queues.pause("secret")

    default, secret = queues.page().rows

    assert (default.name, default.due, default.parked, default.running, default.workers) == ("default", 3, 1, 0, 1)
    assert (default.oldest_due_at, default.paused_at) == (START, None)
    assert (secret.name, secret.due, secret.workers) == ("secret", 1, 0)
    assert (secret.paused_at, secret.paused_by, secret.pause_reason) == (START, "admin:root", "maintenance")


@pytest.mark.usefixtures("two_tenants")
@pytest.mark.parametrize("principal", [ACME, SUPPORT])
def test_a_tenant_and_its_support_see_only_the_queues_and_the_counts_of_its_own_jobs(principal):
    app.operations(ADMIN).queues.pause("quiet")

    for tenant in (None, "globex"):
        (mine,) = app.operations(principal).queues.page(tenant=tenant).rows
        assert (mine.name, mine.due, mine.parked) == ("default", 2, 1)


@pytest.mark.usefixtures("two_tenants")
def test_an_admin_may_count_for_one_tenant():
    (mine,) = app.operations(ADMIN).queues.page(tenant="acme").rows

    assert (mine.name, mine.due) == ("default", 2)


def test_queues_come_in_pages_by_name(store):
    names = ["B", "a", "b", "c", "é"]
    store.jobs.enqueue([new_job(queue=name) for name in names])
    queues = app.operations(ADMIN).queues

    first = queues.page(limit=2)
    second = queues.page(after=first.next, limit=2)
    last = queues.page(after=second.next, limit=2)

    assert [[queue.name for queue in page.rows] for page in (first, second, last)] == [names[:2], names[2:4], names[4:]]
    assert last.next is None
    with pytest.raises(InvalidValue):
        queues.page(limit=0)


def test_a_pause_is_recorded_once_with_who_and_why_and_taken_back(store):
    queues = app.operations(ADMIN).queues

    assert (queues.pause("default"), queues.pause("default")) == (True, False)
    assert (queues.resume("default"), queues.resume("default")) == (True, False)

    (paused,) = store.events.latest(name=events.QUEUE_PAUSED)
    assert (paused.actor, paused.data) == ("admin:root", {"queue": "default", "reason": "maintenance"})
    assert [event.actor for event in store.events.latest(name=events.QUEUE_RESUMED)] == ["admin:root"]


@pytest.mark.parametrize("principal", [ACME, SUPPORT])
@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_who_is_no_admin_does_not_pause_a_queue_for_everybody(store, principal, verb):
    with pytest.raises(Forbidden):
        getattr(app.operations(principal).queues, verb)("default")

    assert store.queues.paused("default") is None
    (refusal,) = store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.tenant, refusal.actor, refusal.data["verb"]) == ("acme", principal.actor, f"queue.{verb}")


def test_a_queue_that_nobody_uses_is_empty():
    queue = app.operations(ADMIN).queues.get("nobody")

    assert (queue.name, queue.due, queue.running, queue.workers, queue.paused_at) == ("nobody", 0, 0, 0, None)


def test_a_drain_ends_with_its_first_look_where_nothing_is_left():
    (look,) = app.operations(ADMIN).queues.drain("default")

    assert (look.drained, look.is_last, look.left, look.at) == (True, True, 0, START)


@pytest.mark.parametrize(("scope", "left"), [("running", 1), ("due", 3), ("everything", 4)])
@pytest.mark.usefixtures("two_tenants")
def test_a_drain_says_what_is_left_of_what_it_waits_for_when_its_time_is_up(store, scope, left):
    worker_id = worker().id
    assert claim(store, worker_id)

    *_, last = app.operations(ADMIN).queues.drain("default", scope, timeout=0)

    assert (last.left, last.drained, last.is_last) == (left, False, True)
    assert (last.queue.due, last.queue.running, last.queue.parked) == (2, 1, 1)


@pytest.mark.usefixtures("two_tenants")
def test_a_drain_of_a_tenant_waits_for_its_own_jobs_alone():
    *_, last = app.operations(ACME).queues.drain("secret", timeout=0)

    assert last.drained

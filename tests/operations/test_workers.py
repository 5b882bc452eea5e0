"""Workers belong to the fleet: staff sees them, a tenant does not."""

from __future__ import annotations

import pytest

from haulwright import Haulwright
from haulwright.errors import Forbidden
from tests.operations.fleet import ACME, ADMIN, SUPPORT, SYSTEM, app, worker
from tests.stores.scenes import claim, new_job


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def two_workers():
    first, second = worker(1), worker(2)
    app.store.workers.register(first, ["default"], ["tick"])
    app.store.workers.register(second, ["default"], ["tick"])
    app.store.jobs.enqueue([new_job(tenant="acme"), new_job(tenant="globex")])
    claim(app.store, first.id, 2)
    return first, second


@pytest.mark.parametrize(("principal", "running"), [(ADMIN, 2), (SYSTEM, 2), (SUPPORT, 1)])
def test_staff_sees_the_live_workers_and_the_jobs_in_their_hands_as_far_as_it_sees_those(
    two_workers, principal, running
):
    second, first = app.operations(principal).workers.page().rows

    assert [first.row.id, second.row.id] == [worker.id for worker in two_workers]
    assert (first.running, second.running) == (running, 0)


def test_a_worker_that_stopped_is_shown_where_everyone_is_asked_for(two_workers):
    app.store.workers.stopped(two_workers[1], refused=0)
    workers = app.operations(ADMIN).workers

    assert [worker.row.name for worker in workers.page().rows] == ["w1"]
    assert [worker.row.name for worker in workers.page(everyone=True).rows] == ["w2", "w1"]


@pytest.mark.usefixtures("two_workers")
def test_workers_come_in_pages():
    workers = app.operations(ADMIN).workers
    first = workers.page(limit=1)
    second = workers.page(after=first.next, limit=1)

    assert [page.rows[0].row.name for page in (first, second)] == ["w2", "w1"]
    assert second.next is None


def test_a_tenant_sees_no_workers():
    with pytest.raises(Forbidden):
        app.operations(ACME).workers.page()


def test_what_a_worker_would_claim_is_told_with_whether_the_app_knows_its_task():
    known, unknown = new_job(task="tick", priority=5), new_job(task="riddle")
    app.store.jobs.enqueue([unknown, known, new_job(queue="other")])

    preview = app.operations(ADMIN).workers.would_claim(["default"], 10)

    assert [(candidate.job.id, candidate.is_known) for candidate in preview.candidates] == [
        (known.id, True), (unknown.id, False),
    ]  # fmt: skip
    assert app.store.queues.held() == {}


def test_on_a_database_that_is_not_there_nothing_would_be_claimed_and_none_is_made(tmp_path):
    missing = Haulwright(f"sqlite:///{tmp_path}/none.db")

    assert missing.operations(ADMIN).workers.would_claim(["default"], 10).candidates == []
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("principal", [ACME, SUPPORT])
def test_the_next_jobs_of_all_tenants_are_no_business_of_one(principal):
    with pytest.raises(Forbidden):
        app.operations(principal).workers.would_claim(["default"], 10)

"""Queues are counted a page at a time: what a page costs depends on its own queues, not on how many there are."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from haulwright.clock import SECOND
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.stores import queues
from haulwright.stores.books import book
from tests.stores.scenes import START, claim, claim_one, fail, new_job

MANY = 20_000


def names(page):
    return [queue.name for queue in page.rows]


def test_a_page_has_queues_in_which_jobs_wait_or_run_and_those_that_are_paused(store, worker):
    store.jobs.enqueue([new_job(queue=name) for name in ("b-runs", "c-waits", "é-waits", "B-waits")])
    claim(store, worker, 1, "b-runs")
    store.queues.pause("a-paused", actor="alice", reason="maintenance")
    store.queues.pause("c-waits", actor="alice", reason="maintenance")

    first = store.queues.page(limit=3)
    last = store.queues.page(after=first.next, limit=3)

    assert (names(first), names(last)) == (["B-waits", "a-paused", "b-runs"], ["c-waits", "é-waits"])
    assert last.next is None
    assert [(queue.due, queue.running, queue.paused_by) for queue in first.rows] == [
        (1, 0, None),
        (0, 0, "alice"),
        (0, 1, None),
    ]
    assert [(queue.due, queue.paused_at) for queue in last.rows] == [(1, START), (1, None)]


def test_a_tenants_page_has_its_own_queues_alone(store, worker):
    store.jobs.enqueue([new_job(queue=f"q{number}", tenant="acme" if number % 3 else "globex") for number in range(9)])
    store.jobs.enqueue([new_job(queue=name, tenant="acme") for name in ("a-runs", "z-runs")])
    store.jobs.enqueue([new_job(queue=name, tenant="globex") for name in ("q1", "b-runs")])
    for queue in ("a-runs", "b-runs", "z-runs"):
        claim(store, worker, 1, queue)
    store.queues.pause("nobody", actor="alice", reason="maintenance")

    first = store.queues.page("acme", limit=4)
    last = store.queues.page("acme", after=first.next, limit=4)

    assert (names(first), names(last)) == (["a-runs", "q1", "q2", "q4"], ["q5", "q7", "q8", "z-runs"])
    assert [queue.due for queue in first.rows] == [0, 1, 1, 1]


@pytest.fixture
def mixed(store, worker):
    """A queue with jobs of several tenants and priorities, due, parked and running; in another one all are parked."""
    for number, tenant in enumerate(("acme", "globex", "initech")):
        for priority in (5, 0, -5):
            store.jobs.enqueue([new_job(queue="busy", tenant=tenant, priority=priority) for _ in range(number + 1)])
            store.jobs.enqueue([new_job(queue="busy", tenant=tenant, priority=priority, delay_us=9 * SECOND)])
        store.jobs.enqueue([new_job(queue="later", tenant=tenant, delay_us=9 * SECOND)])
    claim(store, worker, 2, "busy")
    return store


@pytest.mark.parametrize("tenant", [None, "acme", "globex", "nobody"])
def test_a_bounded_count_of_few_jobs_is_the_same_as_one_of_all(mixed, tenant):
    exact = mixed.queues.of(["busy", "empty", "later"], tenant)

    assert mixed.queues.of(["busy", "empty", "later"], tenant, bounded=True) == exact
    assert mixed.queues.page(tenant, bounded=True) == mixed.queues.page(tenant)


def test_a_bounded_count_ends_at_its_limit_says_so_and_meets_what_waits_longest(mixed, clock, monkeypatch):
    clock.advance(1)
    mixed.jobs.enqueue([new_job(queue="busy", tenant="aaa", priority=5) for _ in range(9)])
    monkeypatch.setattr(queues, "COUNTED", 6)

    busy, later = mixed.queues.of(["busy", "later"], bounded=True)

    assert (busy.due, busy.more_due, busy.parked, busy.more_parked, busy.oldest) == (3, True, 3, True, START)
    assert (later.due, later.more_due, later.parked, later.more_parked) == (0, False, 3, False)


def test_a_bounded_count_of_more_tenants_than_it_goes_through_says_so(mixed, monkeypatch):
    monkeypatch.setattr(queues, "PAIRS_COUNTED", 2)

    (busy,) = mixed.queues.of(["busy"], bounded=True)

    assert (busy.more_due, busy.more_parked) == (True, True)
    assert 0 < busy.due + busy.parked < 10


@pytest.mark.parametrize("tenant", [None, DEFAULT_TENANT])
def test_a_job_that_goes_back_while_a_page_is_made_is_on_it(store, worker, monkeypatch, tenant):
    store.jobs.enqueue([new_job(queue="busy")])
    lease = claim_one(store, worker, "busy")

    with after_first_statement(store.database, monkeypatch, lambda: fail(store, lease)):
        (busy,) = store.queues.page(tenant).rows

    assert (busy.name, busy.parked, busy.running) == ("busy", 1, 0)


@contextmanager
def after_first_statement(database, monkeypatch, act):
    """Act between the first statement of what reads and the next."""
    read, acts = database.read, [act]

    class Interrupted:
        def __init__(self, connection):
            self._connection = connection

        def run(self, entry, params):
            rows = self._connection.run(entry, params)
            while acts:
                acts.pop()()
            return rows

    with monkeypatch.context() as patch:
        patch.setattr(database, "read", lambda work: read(lambda connection: work(Interrupted(connection))))
        yield
    assert not acts


def test_some_queues_are_counted_by_name_empty_or_not(store):
    store.jobs.enqueue([new_job(queue="a", run_at=START - SECOND), new_job(queue="a", delay_us=SECOND), new_job()])

    a, nobody = store.queues.of({"nobody", "a"})

    assert (a.name, a.due, a.parked, a.oldest) == ("a", 1, 1, START - SECOND)
    assert (nobody.name, nobody.due, nobody.parked, nobody.running) == ("nobody", 0, 0, 0)


def test_a_page_costs_the_same_however_many_queues_there_are(store):
    costs = []
    for number in (100, MANY):
        store.jobs.enqueue([new_job(queue=f"queue-{number}-{place:06}") for place in range(number)])
        if store.database.dialect == "postgres":
            store.database.read(lambda connection: connection.execute("analyze haulwright_jobs"))
        costs.append(_rows_read(store, "occupied", {"after": "", "limit": 11}))

    assert costs[1] <= costs[0] + 5
    assert len(store.queues.page(limit=10).rows) == 10
    if store.database.dialect == "postgres":
        counted = {"names": ["queue-100-000007"], "first_tenant": "", "last_tenant": "~", "now": START}
        assert _rows_read(store, "counts", counted) <= 5


def _rows_read(store, name, params):
    """How many rows a statement reads; on SQLite, how many tens of steps its machine takes."""
    (statement,) = book("haulwright.stores", store.database.dialect, "queues")[name]
    if store.database.dialect == "sqlite":
        steps = []
        store.database.read(lambda c: c.raw.set_progress_handler(lambda: steps.append(1), 10))
        store.database.read(lambda c: c.execute(statement, params))
        store.database.read(lambda c: c.raw.set_progress_handler(None, 0))
        return len(steps)
    ((plan,),) = store.database.read(lambda c: c.execute(f"explain (analyze, format json) {statement}", params))
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return _scanned(plan[0]["Plan"])


def _scanned(node):
    own = node["Actual Rows"] * node["Actual Loops"] if "Relation Name" in node else 0
    return own + sum(_scanned(child) for child in node.get("Plans", ()))


@pytest.mark.parametrize("limit", [0, 1001])
def test_a_page_of_queues_has_a_size_that_makes_sense(store, limit):
    with pytest.raises(ValueError, match="limit"):
        store.queues.page(limit=limit)

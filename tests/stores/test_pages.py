"""Every list comes in pages, and the pages together are the whole list: nothing twice, nothing left out."""

from __future__ import annotations

import pytest

from haulwright.engine.ids import new_id
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.source import SourceLimits
from haulwright.errors import InvalidValue
from haulwright.stores.paging import PAGE_LIMIT, every_row
from haulwright.stores.workers import Identity
from tests.stores.scenes import START, bury, claim, new_job

NAMES = ["B", "a", "a b", "ab", "b", "é", "über"]
"""In the order of code points, which is not that of most languages."""


def worker_row(number):
    return Identity(new_id(), f"w{number}", "alpha", "b1", number, "100", "0.1")


def pages_of(read, limit):
    pages = []
    after = None
    while not pages or after is not None:
        page = read(after=after, limit=limit)
        pages.append(page.rows)
        after = page.next
    return pages


def test_schedules_come_in_pages_by_name(store):
    for name in reversed(NAMES):
        store.schedules.declare(ScheduleSpec.declare(name, "0 * * * *", "work"), new_job(id=""))

    pages = pages_of(store.schedules.page, limit=3)

    assert [[row.spec.name for row in rows] for rows in pages] == [NAMES[:3], NAMES[3:6], NAMES[6:]]


def test_a_page_of_schedules_has_only_those_of_its_tenant(store):
    for name in NAMES:
        tenant = "acme" if len(name) == 1 else "globex"
        store.schedules.declare(ScheduleSpec.declare(name, "0 * * * *", "work", tenant=tenant), new_job(id=""))

    first = store.schedules.page("acme", limit=3)
    rest = store.schedules.page("acme", after=first.next, limit=3)

    assert [row.spec.name for row in [*first.rows, *rest.rows]] == [name for name in NAMES if len(name) == 1]
    assert rest.next is None


def test_sources_come_in_pages_by_name(store):
    for name in reversed(NAMES):
        store.sources.declare(name, SourceLimits())

    pages = pages_of(store.sources.page, limit=4)

    assert [[row.key for row in rows] for rows in pages] == [NAMES[:4], NAMES[4:]]


def test_workers_come_in_pages_the_last_started_first(store, clock):
    started = [worker_row(number) for number in range(5)]
    for worker in started:
        store.workers.register(worker, ["default"], [])
        clock.advance(1)
    store.workers.stopped(started[2], refused=0)

    alive = pages_of(store.workers.page, limit=2)
    everyone = pages_of(lambda **words: store.workers.page(everyone=True, **words), limit=2)

    assert [[row.pid for row in rows] for rows in alive] == [[4, 3], [1, 0]]
    assert [[row.pid for row in rows] for rows in everyone] == [[4, 3], [2, 1], [0]]


def test_a_list_of_all_workers_or_schedules_is_cut_nowhere(store, monkeypatch):
    monkeypatch.setattr("haulwright.stores.workers.PAGE_LIMIT", 2)
    monkeypatch.setattr("haulwright.stores.schedules.PAGE_LIMIT", 2)
    for number in range(5):
        store.workers.register(worker_row(number), ["default"], [])
        store.schedules.declare(ScheduleSpec.declare(f"s{number}", "0 * * * *", "work"), new_job(id=""))

    assert len(store.workers.list()) == 5
    assert len(store.schedules.list()) == 5


def test_a_page_that_is_exactly_full_ends_the_list(store):
    for name in NAMES[:2]:
        store.sources.declare(name, SourceLimits())

    assert store.sources.page(limit=2).next is None
    assert [row.key for row in every_row(lambda after: store.sources.page(after=after, limit=1))] == NAMES[:2]


@pytest.mark.parametrize("limit", [0, -1, PAGE_LIMIT + 1])
def test_a_page_of_no_rows_or_of_too_many_is_refused(store, limit):
    for read in (store.schedules.page, store.sources.page, store.workers.page):
        with pytest.raises(InvalidValue):
            read(limit=limit)


def test_a_page_of_workers_after_what_is_no_id_is_refused(store):
    with pytest.raises(InvalidValue):
        store.workers.page(after="w1")


def test_counts_of_what_ended_runs_and_failed_can_be_those_of_one_tenant(store, worker):
    for tenant, count in (("acme", 2), ("globex", 1)):
        for _ in range(count):
            bury(store, worker, tenant=tenant)
        store.jobs.enqueue([new_job(tenant=tenant)])
    claim(store, worker, 10)

    assert [store.queues.ended(0, START, tenant)["default"].dead for tenant in (None, "acme", "globex")] == [3, 2, 1]
    assert [store.queues.held(tenant)[worker] for tenant in (None, "acme")] == [2, 1]
    assert [len(store.queues.troubles(tenant=tenant)) for tenant in (None, "acme", "globex")] == [3, 2, 1]

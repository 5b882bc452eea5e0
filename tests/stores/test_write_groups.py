"""Who writes at the same time is written together; nobody waits for company, and nobody pays for a neighbour."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from haulwright import events
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.grouped_enqueues import GroupedEnqueues
from haulwright.stores.job_rows import EnqueuedBy
from haulwright.stores.write_groups import MOST_ITEMS, WriteGroups
from tests.runtime.waiting import eventually
from tests.stores.scenes import count, new_job

PATIENCE_SECONDS = 30


class Disk:
    """Where groups are written: it holds the first write until the others wait."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.alone: list[int] = []
        self.is_held = threading.Event()
        self.may_go = threading.Event()
        self.failure: BaseException | None = None
        self.written = WriteGroups(self.write, self.write_alone)

    def write(self, items: list[int]) -> list[int]:
        self.groups.append(list(items))
        if len(self.groups) == 1:
            self.is_held.set()
            assert self.may_go.wait(PATIENCE_SECONDS)
        elif self.failure is not None:
            raise self.failure
        return [item * 10 for item in items]

    def write_alone(self, item: int, trouble: BaseException) -> int:
        assert trouble is self.failure
        self.alone.append(item)
        if item == 2:
            message = "two cannot be written"
            raise ValueError(message)
        return item * 100


def together(disk: Disk, items: range, hands: ThreadPoolExecutor) -> list[Future[int]]:
    """One item under way, and the others behind it."""
    first = hands.submit(disk.written.submit, 0)
    assert disk.is_held.wait(PATIENCE_SECONDS)
    others = [hands.submit(disk.written.submit, item) for item in items]
    eventually(lambda: len(disk.written._waiting) == len(items))
    disk.may_go.set()
    return [first, *others]


def test_who_comes_alone_is_written_at_once():
    disk = Disk()
    disk.may_go.set()

    assert [disk.written.submit(1), disk.written.submit(2)] == [10, 20]
    assert disk.groups == [[1], [2]]


def test_those_who_come_while_another_writes_go_together_and_get_their_own_answers():
    disk = Disk()
    with ThreadPoolExecutor(6) as hands:
        answers = [one.result(PATIENCE_SECONDS) for one in together(disk, range(1, 6), hands)]

    assert answers == [0, 10, 20, 30, 40, 50]
    assert [sorted(group) for group in disk.groups] == [[0], [1, 2, 3, 4, 5]]


def test_a_group_has_a_most_and_the_rest_go_with_the_next():
    disk = Disk()
    with ThreadPoolExecutor(MOST_ITEMS + 10) as hands:
        for one in together(disk, range(1, MOST_ITEMS + 9), hands):
            one.result(PATIENCE_SECONDS)

    assert [len(group) for group in disk.groups] == [1, MOST_ITEMS, 8]


def test_one_that_cannot_be_written_does_not_take_its_neighbours_along():
    disk = Disk()
    disk.failure = RuntimeError("one of you")
    with ThreadPoolExecutor(4) as hands:
        first, *others = together(disk, range(1, 4), hands)
        first.result(PATIENCE_SECONDS)
        outcomes = [other.exception(PATIENCE_SECONDS) or other.result() for other in others]

    assert [str(outcome) for outcome in outcomes] == ["100", "two cannot be written", "300"]
    assert sorted(disk.alone) == [1, 2, 3]


def test_a_failure_leaves_the_way_free_for_those_who_come_next():
    disk = Disk()
    disk.may_go.set()
    disk.written.submit(0)
    disk.failure = RuntimeError("not now")
    with pytest.raises(RuntimeError, match="not now"):
        disk.written.submit(1)
    disk.failure = None

    assert disk.written.submit(2) == 20


def test_a_writer_that_is_interrupted_leaves_its_neighbours_to_themselves():
    disk = Disk()
    disk.failure = KeyboardInterrupt()
    with ThreadPoolExecutor(4) as hands:
        first, *others = together(disk, range(3, 6), hands)
        first.result(PATIENCE_SECONDS)
        outcomes = [other.exception(PATIENCE_SECONDS) or other.result() for other in others]

    assert sum(isinstance(outcome, KeyboardInterrupt) for outcome in outcomes) == 1
    assert len(disk.alone) == 2


def test_jobs_of_many_requests_are_all_written_each_with_its_own_actor_and_request(store):
    def enqueue(number: int) -> str:
        token = events.request_id.set(f"request-{number}")
        try:
            return store.grouped_enqueues.enqueue(new_job(), EnqueuedBy(f"actor-{number}", f"reason-{number}")).id
        finally:
            events.request_id.reset(token)

    with ThreadPoolExecutor(16) as hands:
        ids = list(hands.map(enqueue, range(64)))

    assert count(store, "haulwright_jobs") == len(set(ids)) == 64
    for number, job_id in enumerate(ids):
        (queued,) = store.events.of_job(job_id)
        assert (queued.name, queued.actor) == (events.JOB_QUEUED, f"actor-{number}")
        assert (queued.data["reason"], queued.data["request_id"]) == (f"reason-{number}", f"request-{number}")


def test_a_group_whose_commit_nobody_knows_of_is_looked_for_and_written_once(store):
    unknown = DatabaseUnavailable("the answer to the commit was lost", hint="")
    unknown.outcome_unknown = True

    class Lossy:
        """A database whose commits of groups succeed or fail, without a word of which."""

        def __init__(self) -> None:
            self.has_written = True

        dialect, clock = store.database.dialect, store.database.clock

        def run_single(self, entry, params, columns=None, *, rows=None):
            self.has_written = not self.has_written
            if self.has_written:
                store.database.run_single(entry, params, columns, rows=rows)
            raise unknown

    grouped = GroupedEnqueues(Lossy(), store.jobs)  # type: ignore[arg-type] # what it needs of a database
    by = EnqueuedBy("ops")

    enqueued = [grouped.enqueue(new_job(), by) for _ in range(4)]

    assert count(store, "haulwright_jobs") == 4
    assert all(entry.created for entry in enqueued)
    assert [len(store.events.of_job(entry.id)) for entry in enqueued] == [1, 1, 1, 1]

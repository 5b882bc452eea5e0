"""Where commits of several runs meet: who comes together goes together, and nobody waits for company."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from haulwright.client.commit_queue import CommitQueue
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.commit_groups import CommitRequest, GroupBroken
from tests.runtime.waiting import eventually

seen: ContextVar[str] = ContextVar("seen", default="nothing")


class Lease:
    """As much of a lease as the queue looks at."""

    tenant = "default"

    def __init__(self, job_id):
        self.id = job_id


class Groups:
    """Writes nothing, and remembers what it was given."""

    def __init__(self):
        self.together, self.alone = [], []
        self.trouble: BaseException | None = None
        self.begun, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def may_join(self, request):
        return not request.name.startswith("alone")

    def commit(self, request):
        self.alone.append(request.name)
        return request.act(None)

    def commit_together(self, requests):
        self.together.append([request.name for request in requests])
        self.begun.set()
        assert self.gate.wait(30)
        if self.trouble is not None:
            raise self.trouble
        return {request: request.act(None) for request in requests if not request.name.startswith("stale")}


@pytest.fixture
def groups():
    return Groups()


@pytest.fixture
def queue(groups):
    """A queue with a writer."""
    queue = CommitQueue(groups)
    queue.open()
    ending = threading.Event()

    def write():
        while not ending.is_set():
            queue.write_next()

    writer = threading.Thread(target=write)
    writer.start()
    yield queue
    ending.set()
    groups.gate.set()
    queue.close()
    writer.join(30)
    assert not writer.is_alive()


def request(name, job=None, key=None, act=None):
    return CommitRequest(Lease(job or name), key or name, name, act or (lambda _: name), None, "worker")


def commit_all(queue, requests, groups):
    """Commit on one event loop, all that come while the first is written."""

    async def work():
        groups.gate.clear()
        leading = asyncio.create_task(queue.acommit(request("first")))
        await asyncio.to_thread(groups.begun.wait, 30)
        rest = [asyncio.create_task(queue.acommit(each)) for each in requests]
        await asyncio.sleep(0)
        groups.gate.set()
        return await asyncio.gather(leading, *rest, return_exceptions=True)

    return asyncio.run(work())


def test_who_comes_while_a_group_is_written_goes_with_the_next(queue, groups):
    assert commit_all(queue, [request("a"), request("b"), request("c")], groups) == ["first", "a", "b", "c"]
    assert (groups.together, groups.alone) == ([["first"], ["a", "b", "c"]], [])


def test_who_cannot_go_with_others_goes_alone_at_once(queue, groups):
    groups.gate.clear()
    assert asyncio.run(queue.acommit(request("alone"))) == "alone"
    assert (groups.together, groups.alone) == ([], ["alone"])


def test_what_a_group_leaves_out_goes_alone(queue, groups):
    assert commit_all(queue, [request("a"), request("stale"), request("c")], groups) == ["first", "a", "stale", "c"]
    assert groups.alone == ["stale"]


@pytest.mark.parametrize("trouble", [GroupBroken(), ValueError(), SystemExit(3)], ids=repr)
def test_each_of_a_group_that_breaks_goes_alone(queue, groups, trouble):
    groups.trouble = trouble

    assert commit_all(queue, [request("a"), request("b")], groups) == ["first", "a", "b"]
    assert sorted(groups.alone) == ["a", "b", "first"]


def test_where_the_database_is_away_nobody_goes_on_alone(queue, groups):
    """Or where nobody knows what it has: each run hears it, and its job waits."""
    groups.trouble = DatabaseUnavailable("away")

    assert commit_all(queue, [request("a"), request("b")], groups) == [groups.trouble] * 3
    assert groups.alone == []


@pytest.mark.parametrize(
    "pair",
    [(request("a", job="one"), request("b", job="one")), (request("a", key="one"), request("b", key="one"))],
    ids=["of one job", "under one key"],
)
def test_two_of_one_job_or_under_one_key_are_never_in_one_group(queue, groups, pair):
    assert commit_all(queue, [*pair, request("c")], groups) == ["first", "a", "b", "c"]
    assert groups.together == [["first"], ["a", "c"], ["b"]]


def test_a_group_has_a_most(queue, groups, monkeypatch):
    monkeypatch.setattr("haulwright.client.commit_queue.MOST_COMMITS", 2)

    commit_all(queue, [request(name) for name in "abcde"], groups)

    assert groups.together == [["first"], ["a", "b"], ["c", "d"], ["e"]]


def test_a_run_that_was_ended_while_it_waited_commits_nothing(queue, groups):
    async def work():
        groups.gate.clear()
        leading = asyncio.create_task(queue.acommit(request("first")))
        await asyncio.to_thread(groups.begun.wait, 30)
        ended, stays = (asyncio.create_task(queue.acommit(request(name))) for name in ("ended", "stays"))
        await asyncio.sleep(0)
        ended.cancel()
        await asyncio.sleep(0)
        groups.gate.set()
        return await asyncio.gather(leading, ended, stays, return_exceptions=True)

    first, ended, stays = asyncio.run(work())

    assert (first, type(ended), stays) == ("first", asyncio.CancelledError, "stays")
    assert groups.together == [["first"], ["stays"]]


def test_a_function_sees_the_context_variables_of_its_run(queue, groups):
    async def work(name):
        seen.set(name)
        return await queue.acommit(request(name, act=lambda _: seen.get()))

    async def both():
        return await asyncio.gather(asyncio.create_task(work("a")), asyncio.create_task(work("b")))

    assert asyncio.run(both()) == ["a", "b"]
    assert groups.alone == []


def test_threads_go_together_too(queue, groups):
    groups.gate.clear()
    answers = {}
    threads = [
        threading.Thread(target=lambda name=name: answers.update({name: queue.commit(request(name))})) for name in "abc"
    ]
    threads[0].start()
    eventually(lambda: groups.together)
    for thread in threads[1:]:
        thread.start()
    eventually(lambda: len(queue._waiting) == 2)
    groups.gate.set()
    for thread in threads:
        thread.join(30)

    assert answers == {"a": "a", "b": "b", "c": "c"}
    assert [sorted(group) for group in groups.together] == [["a"], ["b", "c"]]


def test_after_the_end_everybody_goes_alone(groups):
    queue = CommitQueue(groups)
    assert queue.commit(request("before")) == "before"
    queue.open()
    waiting = threading.Thread(target=queue.commit, args=[request("waiting")])
    waiting.start()
    eventually(lambda: queue._waiting)
    queue.close()
    waiting.join(30)

    assert queue.commit(request("after")) == "after"
    assert (groups.together, groups.alone) == ([], ["before", "waiting", "after"])

"""Runs that ask the store at the same moment are answered by one call, and none of them waits for company."""

from __future__ import annotations

import asyncio
import threading

import pytest

from haulwright.sources import grouped_calls
from haulwright.sources.grouped_calls import GroupedCalls


class Calls:
    """Doubles what it is given, and remembers each call and whether it was on the event loop."""

    def __init__(self):
        self.made: list[tuple[list[int], bool]] = []
        self.begun, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def act(self, items):
        self.made.append((list(items), False))
        self.begun.set()
        assert self.gate.wait(30)
        return [item * 2 for item in items]

    def at_once(self, items):
        self.made.append((list(items), True))
        return [item * 2 for item in items]


@pytest.fixture
def calls():
    return Calls()


async def ask_all(grouped, items):
    return await asyncio.gather(*(grouped.call(item) for item in items), return_exceptions=True)


def test_who_comes_in_one_turn_of_the_loop_goes_together(calls):
    assert asyncio.run(ask_all(GroupedCalls(calls.act), [1, 2, 3])) == [2, 4, 6]
    assert calls.made == [([1, 2, 3], False)]


def test_who_comes_while_a_call_is_under_way_goes_with_the_next(calls):
    calls.gate.clear()
    grouped = GroupedCalls(calls.act)

    async def work():
        first = asyncio.create_task(grouped.call(1))
        await asyncio.to_thread(calls.begun.wait, 30)
        rest = [asyncio.create_task(grouped.call(item)) for item in (2, 3)]
        await asyncio.sleep(0)
        calls.gate.set()
        return await asyncio.gather(first, *rest)

    assert asyncio.run(work()) == [2, 4, 6]
    assert [items for items, _ in calls.made] == [[1], [2, 3]]


def test_what_can_be_answered_at_once_takes_no_thread(calls):
    grouped = GroupedCalls(calls.act, calls.at_once)

    assert asyncio.run(ask_all(grouped, [1, 2])) == [2, 4]
    assert calls.made == [([1, 2], True)]


def test_a_group_has_a_most_and_nobody_is_left(calls, monkeypatch):
    monkeypatch.setattr(grouped_calls, "MOST_ITEMS", 2)

    assert asyncio.run(ask_all(GroupedCalls(calls.act), range(5))) == [0, 2, 4, 6, 8]
    assert [items for items, _ in calls.made] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize("fails_at_once", [False, True], ids=["on a thread", "on the loop"])
def test_an_error_is_told_to_all_who_asked_and_ends_nothing(calls, fails_at_once):
    def fail(items):
        if items[0] == 1:
            raise ValueError("away")
        return calls.act(items)

    grouped = GroupedCalls(calls.act, fail) if fails_at_once else GroupedCalls(fail)

    async def work():
        return await ask_all(grouped, [1, 2]), await ask_all(grouped, [3])

    failed, after = asyncio.run(work())

    assert [type(answer) for answer in failed] == [ValueError, ValueError]
    assert after == [6]


def test_what_was_asked_for_is_done_although_nobody_waits_for_it_any_more(calls):
    grouped = GroupedCalls(calls.act)

    async def work():
        ended, stays = (asyncio.create_task(grouped.call(item)) for item in (1, 2))
        await asyncio.sleep(0)
        ended.cancel()
        return await asyncio.gather(ended, stays, return_exceptions=True)

    ended, stays = asyncio.run(work())

    assert (type(ended), stays) == (asyncio.CancelledError, 4)
    assert calls.made == [([1, 2], False)]


def test_each_event_loop_has_groups_of_its_own(calls):
    grouped = GroupedCalls(calls.act)

    assert [asyncio.run(ask_all(grouped, [item])) for item in (1, 2)] == [[2], [4]]

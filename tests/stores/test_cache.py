"""Kept answers are rows: they outlive processes, end at their time, and never grow without bound."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.stores.cache import BODY_LIMIT_BYTES, CachedResponse
from tests.stores.scenes import START, count, race

KEY = "a" * 64


def kept(body=b"\x00\xffpage", seconds=3600):
    return CachedResponse(200, '{"v": 1}', body, START, START, START + seconds * SECOND, START + seconds * SECOND)


@pytest.mark.proves("CA-01")
def test_an_answer_is_found_again_by_another_process_byte_for_byte(store, open_store):
    store.cache.save(KEY, "shop", kept())

    assert open_store().cache.load(KEY) == kept()


def test_of_all_who_find_an_answer_stale_one_renews_it(store, open_store):
    store.cache.save(KEY, "shop", kept(seconds=60))
    stores = [open_store() for _ in range(4)]
    stale, until = kept(seconds=60).fresh_until, START + 120 * SECOND

    taken = race(*(lambda one=one: one.cache.take_renewal(KEY, stale, until) for one in stores))

    assert sorted(taken) == [False, False, False, True]
    assert store.cache.load(KEY) == kept(seconds=60)._replace(fresh_until=until)
    assert not store.cache.take_renewal("b" * 64, stale, until)


@pytest.mark.proves("CA-03")
def test_an_answer_is_gone_after_its_time(store, clock):
    store.cache.save(KEY, "shop", kept())

    clock.advance(3600)

    assert store.cache.load(KEY) is None
    assert store.cache.prune() == 1
    assert count(store, "haulwright_cache") == 0


def test_a_newer_answer_takes_the_place_of_the_older_and_one_that_is_too_large_leaves_none(store):
    store.cache.save(KEY, "shop", kept(b"old"))
    store.cache.save(KEY, "shop", kept(b"new"))
    assert store.cache.load(KEY).body == b"new"

    assert not store.cache.save(KEY, "shop", kept(b"x" * (BODY_LIMIT_BYTES + 1)))

    assert store.cache.load(KEY) is None


def test_an_answer_is_forgotten_by_its_key(store):
    store.cache.save("one", "shop", kept())
    store.cache.save("other", "shop", kept())

    store.cache.forget("one")

    assert store.cache.load("one") is None
    assert store.cache.load("other") is not None


def test_what_is_over_the_room_for_all_goes_by_its_end(store):
    store.cache.save("soon", "shop", kept(seconds=10))
    store.cache.save("late", "shop", kept(seconds=20))

    assert store.cache.prune(room_bytes=1_000_000) == 0
    assert store.cache.prune(room_bytes=5) == 2


def test_many_keys_are_looked_for_at_once(store, clock):
    """Mostly there is nothing under any of them."""
    old, young, never = "b" * 64, "c" * 64, "d" * 64
    store.cache.save(old, "shop", kept(seconds=10))
    store.cache.save(young, "shop", kept())
    clock.advance(10)

    assert store.cache.kept([old, young, never]) == {young}

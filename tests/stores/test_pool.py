"""Connections are lent to one thread at a time, and never more than there may be."""

from __future__ import annotations

import threading

import pytest

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.pool import Pool
from tests.stores.scenes import race


class Connection:
    def __init__(self):
        self.busy = threading.Lock()
        self.is_usable = True
        self.is_closed = False

    def usable(self):
        return self.is_usable

    def close(self):
        self.is_closed = True


def test_threads_never_share_a_connection_and_never_exceed_the_size():
    made = []
    pool = Pool(lambda: made.append(Connection()) or made[-1], size=3)

    def work():
        for _ in range(300):
            with pool.acquire() as connection:
                assert connection.busy.acquire(blocking=False)
                connection.busy.release()
        return "done"

    assert race(*[work] * 8) == ["done"] * 8
    assert len(made) <= 3


def test_a_connection_that_another_thread_took_since_anybody_looked_is_not_missed():
    class Emptied(list):
        """Seems to hold one until it is asked for it."""

        def __len__(self):
            return 1

    pool = Pool(Connection, size=1)
    pool._stack.idle = Emptied()

    with pool.acquire() as fresh:
        assert isinstance(fresh, Connection)


def test_the_warmest_connection_is_lent_first():
    pool = Pool(Connection, size=2)
    with pool.acquire() as cold, pool.acquire() as warm:
        pass

    with pool.acquire() as again:
        assert again is cold is not warm


def test_a_broken_connection_is_closed_and_replaced():
    pool = Pool(Connection, size=1)
    with pool.acquire() as broken:
        broken.is_usable = False

    with pool.acquire() as fresh:
        assert fresh is not broken
    assert broken.is_closed


def test_a_place_is_given_back_when_no_connection_can_be_made():
    def refuse():
        raise OSError("no route")

    pool = Pool(refuse, size=1, patience_seconds=0.01)
    for _ in range(3):
        with pytest.raises(OSError, match="no route"), pool.acquire():
            pass


def test_a_pool_that_is_busy_beyond_patience_says_so():
    pool = Pool(Connection, size=1, patience_seconds=0.01)

    with pool.acquire(), pytest.raises(DatabaseUnavailable, match="All 1 connections were busy"), pool.acquire():
        pass


def test_a_closed_pool_has_closed_its_idle_connections():
    pool = Pool(Connection, size=2)
    with pool.acquire() as one, pool.acquire() as two:
        pass

    pool.close()

    assert (one.is_closed, two.is_closed) == (True, True)

"""The line before a source: a turn belongs to one job, also while others are moved."""

from __future__ import annotations

import threading
import time

import pytest

from haulwright.stores.books import book
from tests.stores.gates import KEY, ask, declare
from tests.stores.scenes import START, claim, rows

BLOCKED = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@pytest.mark.postgres
def test_a_turn_that_is_given_while_waiters_are_moved_is_not_given_again(store, open_store, worker, make_job):
    """A claim gives turns, a respread comes behind it: who asks next is behind them all."""
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite has one writer, so nobody gives turns while others are moved")
    declare(store, rate="60/min")
    jobs = [make_job(source=KEY) for _ in range(8)]
    claiming, moving, looking = open_store(), open_store(), open_store()
    hold = book("haulwright.stores", "postgres", "sources")["hold"]

    def both_wait_for_the_row(connection):
        connection.run(hold, {"key": KEY, "now": START})
        acts = [lambda: claim(claiming, worker, 8), lambda: moving.sources.realign(KEY)]
        return [start(act, looking, blocked) for blocked, act in enumerate(acts, 1)]

    for thread in store.database.transact(both_wait_for_the_row):
        thread.join(30)

    waiting = [job for job in (store.listing.get(job.id, None) for job in jobs) if job.waiting_on]
    assert len(waiting) == 5
    assert START + ask(store).wait_us > max(job.run_at for job in waiting)


def start(act, looking, blocked):
    """Begin an act in a thread, and wait until it waits for a lock."""
    thread = threading.Thread(target=act)
    thread.start()
    until = time.monotonic() + 20
    while rows(looking, BLOCKED)[0][0] < blocked:
        assert time.monotonic() < until, "nobody waits for the row"
    return thread

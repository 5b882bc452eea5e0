"""Whoever follows the events gets each of them once, and those of a job in their order, however they commit."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from haulwright import Haulwright, Principal
from haulwright.engine.ids import new_id
from haulwright.errors import InvalidValue
from haulwright.events import Event
from haulwright.stores.store import Store

app = Haulwright()
ADMIN = Principal.admin("root")
WRITERS = 8
JOBS = 16
EVENTS_EACH = 150
PATIENCE_SECONDS = 60


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


class Follower:
    """Somebody who asks for what comes next, and keeps nothing but the cursor."""

    def __init__(self, **options: Any) -> None:
        self._operations = app.operations(ADMIN).events
        self._options = options
        self._cursor = self._operations.follow(**options).next

    def heard(self) -> list[Event]:
        """What came since the last look, looking as often as something new comes."""
        events: list[Event] = []
        while (page := self._operations.follow(after=self._cursor, **self._options)).rows or page.next != self._cursor:
            events += page.rows
            self._cursor = page.next
        return events

    def names(self) -> list[str]:
        return [event.name for event in self.heard()]


def record(store: Store, *names: str) -> None:
    events = [Event(name, "acme") for name in names]
    store.database.transact(lambda connection: store.events.record(connection, events))


@contextmanager
def uncommitted(store: Store, *names: str, aborts: bool = False) -> Iterator[None]:
    """Events that are written and, until the block ends, not committed."""
    written, may_end = threading.Event(), threading.Event()

    def write(connection):
        store.events.record(connection, [Event(name, "acme") for name in names])
        written.set()
        assert may_end.wait(PATIENCE_SECONDS)
        if aborts:
            raise KeyError

    def run():
        try:
            store.database.transact(write)
        except KeyError:
            assert aborts

    thread = threading.Thread(target=run)
    thread.start()
    assert written.wait(PATIENCE_SECONDS)
    try:
        yield
    finally:
        may_end.set()
        thread.join(PATIENCE_SECONDS)


@pytest.fixture
def store(bench) -> Store:
    return bench.store


@pytest.fixture
def concurrent_store(store) -> Store:
    if store.database.dialect == "sqlite":
        pytest.skip("on SQLite one writes at a time: nobody commits between the write and the commit of another")
    return store


def test_an_event_that_commits_after_one_with_a_greater_number_is_not_missed(concurrent_store):
    follower = Follower()

    with uncommitted(concurrent_store, "slow"):
        record(concurrent_store, "quick")
        before = follower.names()

    assert before == []
    assert follower.names() == ["slow", "quick"]


def test_what_is_written_after_an_open_transaction_waits_for_it_and_what_was_before_does_not(concurrent_store):
    follower = Follower()

    record(concurrent_store, "before")
    heard_before = follower.names()
    with uncommitted(concurrent_store, "first"):
        record(concurrent_store, "a")
        heard_first = follower.names()
        with uncommitted(concurrent_store, "second"):
            record(concurrent_store, "b")
            heard_second = follower.names()
    heard_after = follower.names()
    record(concurrent_store, "c")

    assert (heard_before, heard_first, heard_second) == (["before"], [], [])
    assert heard_after == ["first", "a", "second", "b"]
    assert follower.names() == ["c"]


def test_whoever_began_to_write_later_does_not_keep_what_was_written_before_from_being_shown(concurrent_store):
    """Somebody always writes: a follower that waited for a quiet moment would never get one."""
    follower = Follower()

    with uncommitted(concurrent_store, "one"):
        record(concurrent_store, "two")
        assert follower.names() == []
        later = uncommitted(concurrent_store, "three")
        later.__enter__()
    heard = follower.names()
    later.__exit__(None, None, None)

    assert heard == ["one", "two"]
    assert follower.names() == ["three"]


def test_what_was_rolled_back_is_never_shown_and_holds_nobody_up(concurrent_store):
    follower = Follower()

    with uncommitted(concurrent_store, "never", aborts=True):
        record(concurrent_store, "kept")

    assert follower.names() == ["kept"]


def test_a_transaction_that_writes_no_event_holds_nobody_up(concurrent_store, bench):
    follower = Follower()

    with psycopg.connect(bench.database_url) as other:
        other.execute("create table orders (id int)")
        record(concurrent_store, "happened")

        assert follower.names() == ["happened"]
        other.rollback()


def test_a_prepared_transaction_is_waited_for(concurrent_store, bench):
    """It belongs to no connection any more, and is under way all the same."""
    follower = Follower()
    gid = new_id()
    with psycopg.connect(bench.database_url, autocommit=True) as other:
        if other.execute("select current_setting('max_prepared_transactions')::int").fetchone() == (0,):
            pytest.skip("this server prepares no transactions")
        other.execute("begin")
        other.execute("insert into haulwright_events (at, tenant, name) values (0, 'acme', 'prepared')")
        record(concurrent_store, "quick")
        assert follower.names() == []
        other.execute(f"prepare transaction '{gid}'")
        assert follower.names() == []
        other.execute(f"commit prepared '{gid}'")

    assert follower.names() == ["prepared", "quick"]


def test_the_events_of_a_job_come_in_the_order_of_its_commits_whoever_began_first(concurrent_store, bench):
    """The transaction that ends the job began before the one that asked to cancel it, and had to wait for it."""
    follower = Follower()
    with psycopg.connect(bench.database_url, autocommit=True) as other:
        other.execute("begin")
        other.execute("select pg_current_xact_id()")
        record(concurrent_store, "job.cancel_requested")
        other.execute("insert into haulwright_events (at, tenant, name) values (0, 'acme', 'job.cancelled')")
        other.execute("commit")

    assert follower.names() == ["job.cancel_requested", "job.cancelled"]


def test_a_follower_beside_many_writers_gets_every_event_once_and_those_of_a_job_in_order(store):
    """Whoever writes of a job holds it until its commit, as everything does that changes one."""
    jobs = [new_id() for _ in range(JOBS)]
    counters = {job: [0] for job in jobs}
    locks = {job: threading.Lock() for job in jobs}
    follower = Follower()
    heard: list[Event] = []

    def write(writer: int) -> None:
        for step in range(EVENTS_EACH):
            job = jobs[(writer * 7 + step) % JOBS]

            def work(connection, job=job, step=step):
                events = [Event("work.done", "acme", job, data={"n": counters[job][0]})]
                store.events.record(connection, events)
                if step % 3 == 0:  # a transaction that stays open while others come and go
                    connection.execute("select count(*) from haulwright_events")

            with locks[job]:
                store.database.transact(work)
                counters[job][0] += 1

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        heard += follower.heard()
    for thread in threads:
        thread.join()
    heard += follower.heard()

    assert len(heard) == WRITERS * EVENTS_EACH
    assert max(Counter(event.seq for event in heard).values()) == 1
    for job in jobs:
        assert [event.data["n"] for event in heard if event.job_id == job] == list(range(counters[job][0]))


def test_a_follower_of_one_name_goes_past_the_others(store):
    follower = Follower(name="wanted")

    record(store, *["other"] * 50, "wanted", *["other"] * 50)

    assert follower.names() == ["wanted"]
    assert follower._cursor == str(store.events.newest())


def test_the_number_of_an_event_is_a_cursor(store):
    record(store, "a", "b", "c")
    first, *_ = app.operations(ADMIN).events.page().rows

    assert [event.name for event in app.operations(ADMIN).events.follow(after=str(first.seq)).rows] == ["b", "c"]


def test_a_cursor_survives_the_pruning_of_what_it_has_passed(store):
    follower = Follower()
    record(store, "a")
    follower.names()

    store.events.prune(age_seconds=-1, limit=100)
    record(store, "b")

    assert follower.names() == ["b"]


@pytest.mark.parametrize("cursor", ["1", "WzAsIDksICI0LzEyIl0"])
def test_a_cursor_beyond_the_newest_event_is_refused(cursor):
    """It is of another database, or of one that was set back to a backup: its numbers will be given again."""
    with pytest.raises(InvalidValue, match="beyond the newest event"):
        app.operations(ADMIN).events.follow(after=cursor)

"""Finished jobs and events of PostgreSQL go by partitions: whole, in a moment, never with anything that is not due."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from haulwright import events
from haulwright.engine.ids import first_id_of, new_id
from haulwright.engine.transitions import FINAL, State
from haulwright.errors import NotFound
from haulwright.events import Event
from haulwright.runtime.pruner import Pruner
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.events import Place
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import JobFilter
from haulwright.stores.postgres import partitions
from haulwright.stores.store import Store
from tests.stores import scenes
from tests.stores.scenes import bury, claim, count, new_job, rows, settle
from tests.stores.test_prune import finish, ledger

DAY_SECONDS = 86_400
KEPT = dict.fromkeys(FINAL, 30.0 * DAY_SECONDS) | {State.DEAD: 90.0 * DAY_SECONDS}
HISTORY, EVENTS = partitions.HISTORY, partitions.EVENTS

pytestmark = pytest.mark.postgres


@pytest.fixture
def database_url(made_postgres_url):
    return made_postgres_url


@pytest.fixture
def store(store, clock, monkeypatch):
    """A store whose open partitions get an end as soon as anything is in them, and whose ids are of its clock."""
    monkeypatch.setattr(partitions, "GROWN_BYTES", 1)
    monkeypatch.setattr(partitions, "GROWN_SHARE", 10**9)  # files keep the size that they had in an earlier test
    monkeypatch.setattr(partitions, "LOCK_TIMEOUT", "10s")  # a busy machine is no one in the way
    monkeypatch.setattr(scenes, "new_id", lambda: first_id_of(clock.now())[:-12] + new_id()[-12:])
    return store


def close(store, clock):
    """A second later, for the partition ends before the ids of this very moment."""
    clock.advance(1)
    return store.partitions.close_grown()


def note(store, name="test.noted", job_id=None):
    event = Event(name, "default", job_id, data={})
    store.database.transact(lambda connection: store.events.record(connection, [event]))


def names_of(store, table):
    return [part.name for part in store.partitions.of_table(table)]


def test_a_new_database_has_one_open_partition_of_each_until_it_grows(store, clock, monkeypatch):
    monkeypatch.setattr(partitions, "GROWN_BYTES", 256 * 1024**2)
    finish(store, new_id())

    assert close(store, clock) == 0
    assert names_of(store, HISTORY) == ["haulwright_history_open"]
    assert names_of(store, EVENTS) == ["haulwright_events_open"]


def test_what_was_written_before_and_after_a_partition_got_its_end_reads_as_one(store, clock, worker):
    before = finish(store, worker)
    note(store, job_id=before.id)
    assert close(store, clock) == 2
    after = finish(store, worker)
    note(store, job_id=before.id)

    assert names_of(store, HISTORY) == ["haulwright_history_p000001", "haulwright_history_open"]
    assert [store.listing.get(lease.id).state for lease in (before, after)] == [State.SUCCEEDED] * 2
    assert [job.id for job in store.listing.page(JobFilter()).jobs] == [after.id, before.id]
    assert [event.name for event in store.events.of_job(before.id)][-2:] == ["test.noted"] * 2
    numbers = [event.seq for event in store.events.latest(name="test.noted")]
    assert numbers == sorted(numbers)
    assert store.partitions.of_table(EVENTS)[0].lower is None


def test_a_follower_is_shown_every_event_once_across_the_end_of_a_partition(store, clock):
    seen, place = [], Place(0)
    for step in range(4):
        note(store, f"test.n{step}")
        if step % 2:
            close(store, clock)
        for _ in range(3):
            shown, place = store.events.follow(place)
            seen += [event.name for event in shown]

    assert seen == [f"test.n{step}" for step in range(4)]


def test_a_partition_of_events_goes_when_the_last_of_them_is_due_and_not_before(store, clock):
    note(store)
    clock.advance(3600)
    note(store)
    close(store, clock)
    note(store, "test.young")

    clock.advance(10 * DAY_SECONDS - 1800)
    assert store.partitions.drop_events(10 * DAY_SECONDS) == 0
    clock.advance(1801)
    assert store.partitions.drop_events(10 * DAY_SECONDS) == 1

    assert names_of(store, EVENTS) == ["haulwright_events_open"]
    assert [event.name for event in store.events.latest()] == ["test.young"]


def test_jobs_go_with_what_they_needed_and_what_is_kept_longer_stays(store, clock, worker):
    gone = finish(store, worker, args='"' + "x" * 100_000 + '"')
    dead = bury(store, worker, args='"' + "y" * 100_000 + '"')
    others = [finish(store, worker) for _ in range(2)]
    close(store, clock)
    clock.advance(31 * DAY_SECONDS)
    young = finish(store, worker)

    assert store.partitions.clear_jobs(KEPT) == 1

    for lease in (gone, *others):
        with pytest.raises(NotFound):
            store.listing.get(lease.id)
    assert store.listing.get(dead).args == '"' + "y" * 100_000 + '"'
    assert store.listing.get(young.id).state == State.SUCCEEDED
    assert ledger(store) == [2, 1, 1]
    assert count(store, "haulwright_payloads") == 1
    (told,) = store.events.latest(name=events.JOBS_PRUNED)
    assert (told.data["state"], told.data["count"]) == ("succeeded", 3)
    assert store.partitions.clear_jobs(KEPT) == 0


def test_a_partition_of_jobs_is_dropped_with_the_last_of_them(store, clock, worker):
    finish(store, worker)
    close(store, clock)
    clock.advance(91 * DAY_SECONDS)

    assert store.partitions.clear_jobs(KEPT) == 1
    assert names_of(store, HISTORY) == ["haulwright_history_open"]


def test_a_requeued_dead_letter_that_goes_whole_leaves_its_effects_to_its_successor(store, clock, worker):
    dead = bury(store, worker)
    key = rows(store, "select job_key from haulwright_history")[0][0]
    columns = "tenant, key, job_key, job_id, name, kind, state, fence, worker_id, started_at"
    write = f"""insert into haulwright_effects ({columns})
        values ('default', 'e', '{key}', '{dead}', 'n', 'effect', 'done', 1, '{worker}', 1)"""  # noqa: S608 - our own
    store.database.transact(lambda connection: connection.execute(write))
    store.jobs.requeue(dead, Requeue("me"), tenant=None)
    close(store, clock)
    clock.advance(91 * DAY_SECONDS)

    assert store.partitions.clear_jobs(KEPT) == 1
    assert count(store, "haulwright_effects") == 1


def test_a_job_that_ends_long_after_its_partition_went_is_kept_its_time(store, clock, worker):
    store.jobs.enqueue([new_job()])
    close(store, clock)
    (lease,) = claim(store, worker)
    clock.advance(40 * DAY_SECONDS)
    assert settle(store, lease)
    while store.partitions.clear_jobs(KEPT):
        pass

    assert store.listing.get(lease.id).state == State.SUCCEEDED


def test_nobody_waits_for_a_partition_that_somebody_writes_to(store, database_url, worker, clock, monkeypatch):
    monkeypatch.setattr(partitions, "LOCK_TIMEOUT", "100ms")
    finish(store, worker)
    note(store)
    with psycopg.connect(database_url) as other:
        other.execute("insert into haulwright_events (at, tenant, name) values (0, 'acme', 'open')")
        assert close(store, clock) == 1  # the jobs
        other.execute("select * from haulwright_history")
        clock.advance(400 * DAY_SECONDS)
        assert store.partitions.clear_jobs(KEPT) == 0
    assert close(store, clock) == 1
    assert store.partitions.clear_jobs(KEPT) == 1


def test_the_server_is_told_how_large_a_table_of_partitions_has_become(store):
    write = "insert into haulwright_events (at, tenant, name) select n, 'acme', 'x' from generate_series(1, 5000) n"
    store.database.transact(lambda connection: connection.execute(write))
    store.database.transact(
        lambda connection: connection.execute("analyze haulwright_events_open")
    )  # as autovacuum does
    known = "select count(*) from pg_stats where schemaname = current_schema() and tablename = 'haulwright_events'"
    assert rows(store, known) == [(0,)]

    assert store.partitions.keep_statistics() == 1

    assert rows(store, known)[0][0] > 0
    assert store.partitions.keep_statistics() == 0


def test_two_workers_do_it_once(store, open_store, worker):
    finish(store, worker)
    with store.database._pool.acquire() as connection:
        connection.raw.execute("begin")
        connection.raw.execute(f"select {partitions.TRY_LOCK}")
        assert open_store().partitions.close_grown() == 0
        connection.raw.execute("rollback")


def test_a_worker_that_slept_for_a_year_removes_everything_that_is_due_in_one_round(store, clock, worker):
    for _ in range(3):
        finish(store, worker)
        note(store)
        close(store, clock)
        clock.advance(10 * DAY_SECONDS)
    clock.advance(365 * DAY_SECONDS)
    pruner = Pruner(store, Settings.load(environ={}))

    while (removed := pruner.prune()) is None:
        pass

    assert removed["event partitions"] >= 3
    assert count(store, HISTORY) == 0
    assert {event.name for event in store.events.latest()} == {events.JOBS_PRUNED}


def test_what_will_soon_go_as_a_whole_is_not_removed_one_by_one(store, clock):
    note(store)
    clock.advance(3600)
    note(store)
    close(store, clock)
    clock.advance(10 * DAY_SECONDS - 1800)

    spared = store.partitions.spared_events(10 * DAY_SECONDS)
    assert store.events.prune(10 * DAY_SECONDS, 100, spared) == 0
    assert store.events.prune(10 * DAY_SECONDS, 100) == 1


def test_a_partition_that_spans_months_is_pruned_row_by_row(store, clock):
    """Else its first events would be kept for months too long."""
    note(store)
    clock.advance(60 * DAY_SECONDS)
    note(store)
    close(store, clock)

    spared = store.partitions.spared_events(10 * DAY_SECONDS)
    assert store.events.prune(10 * DAY_SECONDS, 100, spared) == 1


def test_what_the_triggers_of_a_user_do_is_not_done_again_for_a_row_that_stays(store, clock, worker, database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("create table seen (id uuid)")
        connection.execute(
            "create function see() returns trigger language plpgsql as "
            "$$ begin insert into seen values (new.id); return null; end $$"
        )
        connection.execute("create trigger seen after insert on haulwright_history for each row execute function see()")
    bury(store, worker)
    for _ in range(3):
        finish(store, worker)
    close(store, clock)
    clock.advance(31 * DAY_SECONDS)
    assert store.partitions.clear_jobs(KEPT) == 1
    finish(store, worker)

    assert count(store, "seen") == 5


def test_events_of_a_closed_partition_and_of_the_next_open_one_are_never_changed(store, clock):
    note(store)
    close(store, clock)
    note(store)
    truncates = [f"truncate haulwright_events{part}" for part in ("", "_open", "_p000001")]
    for sql in ("update haulwright_events set name = 'x'", "delete from haulwright_events", *truncates):
        with pytest.raises(psycopg.Error, match="retention only"):
            store.database.transact(lambda connection, sql=sql: connection.execute(sql))


def test_a_database_with_rows_gets_its_partitions_with_everything_that_stood_on_the_tables(postgres_url):
    """Views, triggers, rights and numbers go over to the new tables, and no row is read or written for it."""
    chain = migrations.chain_of(migrations.ENGINE, "postgres")
    with closing(open_database(postgres_url)) as database, psycopg.connect(postgres_url, autocommit=True) as raw:
        database.transact(lambda connection: migrations._apply(connection, migrations.ENGINE, chain[:9]))
        role = f"reader_{new_id()[-12:]}"
        raw.execute(f"create role {role}")
        try:
            schema = raw.execute("select quote_ident(current_schema())").fetchone()[0]
            raw.execute(f"grant usage on schema {schema} to {role}; grant select on haulwright_history to {role}")
            raw.execute("create view mine as select id, state from haulwright_history where state = 'dead'")
            raw.execute("insert into haulwright_events (at, tenant, name) values (1, 'acme', 'old')")
            files = "select pg_relation_filenode('haulwright_history{0}'), pg_relation_filenode('haulwright_events{0}')"
            before = raw.execute(files.format("")).fetchone()

            migrations.migrate(database)
            store = Store(database)
            dead = bury(store, new_id())
            store.partitions.close_grown()

            assert raw.execute(files.format("_open")).fetchone() == before
            assert raw.execute("select id::text from mine").fetchall() == [(dead,)]
            assert raw.execute("select count(*) from haulwright_recent").fetchone() == (1,)
            raw.execute(f"set role {role}")
            assert raw.execute("select count(*) from haulwright_history").fetchone() == (1,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                raw.execute("select * from haulwright_history_open")
            raw.execute("reset role")
            numbers = [event.seq for event in store.events.latest()]
            assert (numbers[0], len(set(numbers))) == (1, count(store, EVENTS))
        finally:
            raw.execute(f"reset role; drop owned by {role}")
            raw.execute(f"drop role {role}")

"""PostgreSQL: what was lost is tried again, and what may have happened is not guessed."""

from __future__ import annotations

import threading
from contextlib import closing

import psycopg
import pytest

from haulwright.clock import SECOND, Clock, host_now
from haulwright.engine.job import Unique
from haulwright.errors import DatabaseUnavailable, DatabaseUnsuitable
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.routing import route
from haulwright.stores.store import Store
from tests.runtime.waiting import eventually
from tests.stores.scenes import claim_one, count, new_job, race, rows, settle

pytestmark = pytest.mark.postgres


@pytest.fixture
def store(postgres_url, clock):
    with closing(Store(open_database(postgres_url, clock=clock))) as store:
        migrations.migrate(store.database)
        yield store


def unknown(message):
    """What is raised where nobody knows whether something was written."""
    problem = DatabaseUnavailable(message)
    problem.outcome_unknown = True
    return problem


@pytest.fixture
def hang_up(postgres_url):
    """End the server's side of a connection, as a restart or a network would."""

    def hang_up(connection):
        ((pid,),) = connection.execute("select pg_backend_pid()")
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute("select pg_terminate_backend(%s, 5000)", [pid])

    return hang_up


def test_a_connection_that_died_while_idle_is_replaced_without_a_word(store, hang_up):
    store.database.read(hang_up)
    assert store.jobs.enqueue([new_job()])[0].created

    store.database.read(hang_up)
    assert store.queues.counts()[0].due == 1


def test_work_that_was_interrupted_before_its_commit_is_done_again_once(store, hang_up):
    calls = []

    def work(connection):
        store.jobs.enqueue_on(connection, [new_job()])
        calls.append(1)
        if len(calls) == 1:
            hang_up(connection)
            connection.execute("select 1")

    store.database.transact(work)

    assert (len(calls), count(store, "haulwright_jobs")) == (2, 1)


def test_a_connection_that_dies_again_and_again_is_told(store, hang_up):
    def work(connection):
        hang_up(connection)
        connection.execute("select 1")

    with pytest.raises(DatabaseUnavailable) as refusal:
        store.database.transact(work)
    assert not refusal.value.outcome_unknown

    with pytest.raises(DatabaseUnavailable):
        store.database.read(work)


def test_a_connection_that_takes_no_writes_any_more_is_replaced_without_a_word(store):
    """As after a fail-over: the server at the other end is a replica now, and stays one."""
    store.database.transact(lambda connection: connection.execute("set default_transaction_read_only = on"))

    store.jobs.enqueue([new_job()])

    assert count(store, "haulwright_jobs") == 1


def test_a_connection_lost_in_the_commit_leaves_the_outcome_unknown(store, hang_up):
    calls = []

    def work(connection):
        calls.append(1)
        store.jobs.enqueue_on(connection, [new_job()])
        hang_up(connection)

    with pytest.raises(DatabaseUnavailable, match="looked up before it is tried again") as refusal:
        store.database.transact(work)

    assert refusal.value.outcome_unknown
    assert len(calls) == 1


def test_a_transaction_that_lost_a_deadlock_is_run_again(store):
    store.jobs.enqueue(jobs := [new_job(), new_job()])

    def locking(first, second):
        def work(connection):
            for job in (first, second):
                connection.execute("update haulwright_jobs set progress = 'x' where id = %s", [job.id])
                connection.execute("select pg_sleep(0.05)")
            return "done"

        return lambda: store.database.transact(work)

    assert race(locking(*jobs), locking(*jobs[::-1])) == ["done", "done"]


def test_a_transaction_that_raises_is_rolled_back_and_its_connection_used_again(postgres_url, store):
    with closing(Store(open_database(postgres_url, pool_size=1))) as other:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                other.database.transact(lambda c: (store.jobs.enqueue_on(c, [new_job()]), 1 / 0))
            with pytest.raises(psycopg.errors.UndefinedTable):
                other.database.transact(lambda c: c.execute("select * from nowhere"))

        assert count(other, "haulwright_jobs") == 0


def test_no_lock_is_waited_for_without_end(store):
    asked = "select current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')"

    assert store.database.read(lambda connection: connection.execute(asked)) == [("10s", "1min")]


@pytest.mark.parametrize("statements", [1, 2, 3])
def test_a_transaction_that_stands_still_is_ended_after_any_number_of_statements(postgres_url, store, statements):
    """Whoever holds locks and sleeps loses them, and its work is done again.

    Several times: the driver's own way leaves the limit off only where the answer is slower than its last message.
    """
    limit = "set idle_in_transaction_session_timeout = '50ms'"
    for _ in range(6):
        pids = []

        def stand_still(connection, pids=pids):
            for _ in range(statements):
                ((pid,),) = connection.execute("select pg_backend_pid()")
            pids.append(pid)
            if len(pids) == 1:
                eventually(lambda: (pid,) not in rows(store, "select pid from pg_stat_activity"))
                connection.execute("select 1")

        with closing(Store(open_database(postgres_url, pool_size=1))) as sleeper:
            sleeper.database.read(lambda connection: connection.execute(limit))
            sleeper.database.transact(stand_still)

        assert len(set(pids)) == 2


def test_the_database_keeps_the_time_when_nobody_else_does(postgres_url):
    with closing(Store(open_database(postgres_url, clock=Clock()))) as store:
        migrations.migrate(store.database)

        assert abs(store.now() - host_now()) < 60 * SECOND
        store.jobs.enqueue([job := new_job()])
        assert abs(store.listing.get(job.id).created_at - store.now()) < 60 * SECOND


def test_an_enqueue_whose_reply_was_lost_is_looked_up_and_not_repeated(store, worker, monkeypatch):
    """The job is there, or finished already: in neither case is it made again."""
    single = store.database.run_single

    def lose_the_reply(entry, params, columns=None):
        single(entry, params, columns)
        monkeypatch.setattr(store.database, "run_single", single)
        if params["id"] == finished.id:
            settle(store, claim_one(store, worker))
        raise unknown("the reply was lost")

    waiting, finished = new_job(delay_us=SECOND), new_job()
    for job in (waiting, finished):
        monkeypatch.setattr(store.database, "run_single", lose_the_reply)
        assert store.jobs.enqueue([job]) == [(job.id, True)]

    assert (count(store, "haulwright_jobs"), count(store, "haulwright_history")) == (1, 1)


@pytest.mark.parametrize("count_of_jobs", [1, 3])
def test_a_commit_whose_reply_was_lost_is_looked_up_and_its_jobs_are_made_once(store, monkeypatch, count_of_jobs):
    transact, jobs = store.database.transact, [new_job(unique=Unique(str(n))) for n in range(count_of_jobs)]
    jobs[0] = jobs[0]._replace(job_key="planned", unique=Unique("0", "forever"))  # in steps, even where it is alone

    def lose_the_reply(work, *, rows=1):
        transact(work, rows=rows)
        monkeypatch.setattr(store.database, "transact", transact)
        raise unknown("the reply was lost")

    monkeypatch.setattr(store.database, "transact", lose_the_reply)

    assert store.jobs.enqueue(jobs) == [(job.id, True) for job in jobs]
    assert count(store, "haulwright_jobs") == count_of_jobs


KEYS = {
    "plain": {},
    "planned": {"job_key": "k"},
    "active": {"unique": Unique("k")},
    "unique": {"unique": Unique("k", "forever")},
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("count_of_jobs", [1, 2])
def test_an_enqueue_that_nobody_can_look_up_says_that_its_outcome_is_unknown(store, monkeypatch, kind, count_of_jobs):
    """Never that nothing was written: it may have been."""

    def break_off(*_, **__):
        raise trouble

    trouble = unknown("the connection broke")
    jobs = [new_job(**KEYS[kind]) for _ in range(count_of_jobs)]
    monkeypatch.setattr(store.database, "run_single", break_off)
    monkeypatch.setattr(store.database, "transact", break_off)

    with pytest.raises(DatabaseUnavailable) as refusal:
        store.jobs.enqueue(jobs)

    assert refusal.value.outcome_unknown
    assert refusal.value.job_ids == tuple(job.id for job in jobs)
    assert "not known: the connection broke" in refusal.value.message
    assert f"haulwright job show {jobs[0].id}." in refusal.value.hint
    assert ("again is safe" in refusal.value.hint) == (kind in {"planned", "unique"})
    assert "othing" not in str(refusal.value)


def test_an_enqueue_that_is_still_under_way_when_it_is_looked_up_is_not_made_twice(store, monkeypatch):
    """Its connection is lost to us, and the server goes on with it."""
    job, first = new_job(), store.database._connect()
    first.begin("begin")
    store.jobs.enqueue_on(first, [job])

    def lose_the_connection(*_):
        committing.start()
        raise unknown("the connection broke")

    def commit():
        waiting = "select query from pg_stat_activity where wait_event_type = 'Lock'"
        eventually(lambda: any("insert into haulwright_jobs" in query for (query,) in rows(store, waiting)))
        first.commit()

    committing = threading.Thread(target=commit)
    monkeypatch.setattr(store.database, "run_single", lose_the_connection)

    assert store.jobs.enqueue([job]) == [(job.id, True)]
    committing.join()
    first.close()
    assert count(store, "haulwright_jobs") == 1


def test_an_enqueue_that_breaks_off_between_two_chunks_says_how_many_were_written(store, monkeypatch):
    monkeypatch.setattr(type(store.database), "load_batch_size", 2)
    monkeypatch.setattr(type(store.database), "writers", 1)
    jobs, chunks, transact = [new_job() for _ in range(6)], [], store.database.transact

    def break_off(work, *, rows=1):
        chunks.append(rows)
        if len(chunks) == 3:
            raise DatabaseUnavailable("away", hint="Nothing of it was written.")
        return transact(work, rows=rows)

    monkeypatch.setattr(store.database, "transact", break_off)

    with pytest.raises(DatabaseUnavailable, match="Of all 6 jobs 4 were written"):
        store.jobs.enqueue(jobs)

    assert count(store, "haulwright_jobs") == 4


def test_a_session_that_is_ended_under_a_statement_leaves_its_outcome_unknown(store):
    """The server may have committed a moment before."""
    suicide = "create function suicide() returns trigger language plpgsql as $$ begin {}; return null; end $$"
    trigger = "create trigger suicide after insert on haulwright_jobs for each statement execute function suicide()"
    for statement in (suicide.format("perform pg_terminate_backend(pg_backend_pid())"), trigger):
        store.database.transact(lambda connection, statement=statement: connection.execute(statement))

    with pytest.raises(DatabaseUnavailable) as refusal:
        store.database.run_single(*store.jobs._in_one_trip(job := new_job(), route([job])))

    assert refusal.value.outcome_unknown
    assert "looked up" in refusal.value.hint


def test_an_enqueue_that_never_arrived_is_made_after_all(store, monkeypatch):
    def never_arrive(*_):
        raise unknown("the connection broke")

    monkeypatch.setattr(store.database, "run_single", never_arrive)
    job = new_job()

    assert store.jobs.enqueue([job]) == [(job.id, True)]
    assert count(store, "haulwright_jobs") == 1


@pytest.fixture
def pooled(store, postgres_url, clock):  # noqa: ARG001 - the schema must be there
    """The same database as it is used behind a transaction pooler."""
    url = f"{postgres_url}{'&' if '?' in postgres_url else '?'}pooler=transaction"
    with closing(Store(open_database(url, clock=clock, pool_size=1))) as pooled:
        yield pooled


def test_behind_a_transaction_pooler_nothing_is_left_on_a_connection(pooled, worker):
    for _ in range(10):
        pooled.jobs.enqueue([new_job()])
        settle(pooled, claim_one(pooled, worker))

    assert rows(pooled, "select count(*) from pg_prepared_statements") == [(0,)]
    assert rows(pooled, "select current_setting('lock_timeout')") == [("0",)]
    assert pooled.database.listen().wait(0) is False
    assert rows(pooled, "select count(*) from pg_listening_channels()") == [(0,)]


def test_behind_a_transaction_pooler_a_transaction_waits_no_longer_for_a_lock_than_elsewhere(pooled):
    asked = "select current_setting('lock_timeout'), current_setting('transaction_isolation')"

    assert pooled.database.transact(lambda connection: connection.execute(asked)) == [("10s", "read committed")]


def test_a_pooler_of_another_kind_is_refused_early(postgres_url):
    with pytest.raises(DatabaseUnsuitable, match="pooler of a kind"):
        open_database(f"{postgres_url}{'&' if '?' in postgres_url else '?'}pooler=session")


def test_a_transaction_that_failed_before_its_first_statement_begins_with_nobody_elses(store):
    def fail(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.database.transact(fail)
    store.jobs.enqueue([new_job()])

    with closing(Store(open_database(store.database.url, clock=store.database.clock))) as other:
        assert count(other, "haulwright_jobs") == 1

"""The settler: an outcome is kept until it is written, in batches that the database takes."""

from __future__ import annotations

import threading

import pytest

from haulwright import Observer
from haulwright.engine.transitions import FINAL
from haulwright.errors import DatabaseUnavailable
from haulwright.runtime import settler
from haulwright.stores import batches
from tests.runtime.waiting import eventually

KIB = 1 << 10
GATE = """
    create table gate (closed boolean);
    insert into gate values (true);
    create function refuse() returns trigger language plpgsql as $$
    begin
        if ({condition}) then raise exception 'refused' using errcode = '{state}'; end if;
        return null;
    end $$;
    create trigger refuse after insert on haulwright_history
        referencing new table as rows for each statement execute function refuse();
"""


@pytest.fixture
def refuse(app, request):
    """Have the server refuse settlements with a SQLSTATE while something about them holds."""

    def refuse(state, condition="(select closed from gate)"):
        gate = GATE.format(state=state, condition=condition)
        app.store.database.transact(lambda connection: connection.script(gate))
        request.addfinalizer(lambda: execute(app, "drop function refuse() cascade"))

    return refuse


@pytest.fixture
def held_back(app, monkeypatch):
    """Keep settlements back as an outage does, until so many runs have ended; then tell how large the batches are."""
    settle, ended, sizes = app.store.settlements.settle, threading.Event(), []

    def settle_later(settlements, worker=""):
        if not ended.is_set():
            raise DatabaseUnavailable("away")
        sizes.append([len(settlement.step.result or "") for settlement in settlements])
        return settle(settlements, worker)

    monkeypatch.setattr(app.store.settlements, "settle", settle_later)
    monkeypatch.setattr(settler, "LINGER_SECONDS", 0.3)  # all that end together are one batch
    return ended, sizes


def execute(app, statement):
    app.store.database.transact(lambda connection: connection.execute(statement))


def outcome_of(handle):
    return handle.job().state, handle.job().attempts, handle.job().losses


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("state", ["25P03", "25006", "53100", "42P01"])
def test_an_outcome_that_cannot_be_written_for_a_while_is_kept(app, start_worker, refuse, state):
    """Neither is its job dead, nor is it run again."""

    class Trouble(Observer):
        def troubled(self, event):
            if event.where == "settle":
                told.set()

    @app.task()
    def work() -> int:
        runs.append(1)
        return 1

    runs, told = [], threading.Event()
    app.observe(Trouble())
    refuse(state)
    handle = work.enqueue()
    start_worker()
    assert told.wait(90)
    execute(app, "update gate set closed = false")

    assert handle.result(90) == 1
    assert outcome_of(handle) == ("succeeded", 1, 0)
    assert runs == [1]


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("state", ["23514", "P0001", "22P05"])
def test_an_outcome_that_its_own_data_forbids_is_the_end_of_its_job_alone(app, start_worker, refuse, state):
    @app.task()
    def work(n: int) -> int:
        return n

    refuse(state, "exists (select from rows where result = '3')")
    handles = [work.enqueue(n) for n in range(10)]
    start_worker()
    eventually(lambda: all(handle.state() in FINAL for handle in handles))

    assert [handle.state() for handle in handles] == ["succeeded"] * 3 + ["dead"] + ["succeeded"] * 6
    assert handles[3].job().reason == "unstorable"


def test_what_an_outage_kept_is_written_in_batches_of_bounded_bytes(app, start_worker, held_back, monkeypatch):
    """However many and however large: the database is never sent more at once than it takes."""
    monkeypatch.setattr(batches, "BATCH_BYTES", 64 * KIB)
    back, sizes = held_back
    runs = []

    @app.task()
    def work(n: int) -> str:
        runs.append(n)
        return "x" * 10 * KIB

    handles = [work.enqueue(n) for n in range(30)]
    start_worker(concurrency=30)
    eventually(lambda: len(runs) == 30)
    back.set()

    assert {len(handle.result(90)) for handle in handles} == {10 * KIB}
    assert {outcome_of(handle) for handle in handles} == {("succeeded", 1, 0)}
    assert max(map(sum, sizes)) <= 64 * KIB
    assert max(map(len, sizes)) > 1


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "death", ["raise exception using errcode = '53200'", "perform pg_terminate_backend(pg_backend_pid())"]
)
def test_a_batch_that_the_server_does_not_survive_is_halved_until_it_does(app, start_worker, refuse, held_back, death):
    """Out of memory at so many rows, or a session that dies of them: fewer pass."""
    back, sizes = held_back
    refuse("53200", "false")
    body = f"begin if (select count(*) > 3 from rows) then {death}; end if; return null; end"  # noqa: S608 - written above
    execute(app, f"create or replace function refuse() returns trigger language plpgsql as $$ {body} $$")

    @app.task()
    def work(n: int) -> int:
        runs.append(n)
        return n

    runs = []
    handles = [work.enqueue(n) for n in range(16)]
    start_worker(concurrency=16)
    eventually(lambda: len(runs) == 16)
    back.set()

    assert [handle.result(90) for handle in handles] == list(range(16))
    assert {outcome_of(handle) for handle in handles} == {("succeeded", 1, 0)}
    assert max(map(len, sizes)) > 3

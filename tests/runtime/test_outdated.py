"""A schema that becomes newer than a worker stops it from claiming, not from finishing what it holds."""

from __future__ import annotations

import logging
import threading

import pytest

from haulwright.engine.transitions import State
from haulwright.errors import DatabaseProblem, SchemaMismatch
from haulwright.runtime import schema_watch
from haulwright.runtime.launch import run_worker
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import isolated


@pytest.fixture(autouse=True)
def looks_before_each_claim(monkeypatch):
    monkeypatch.setattr(schema_watch, "LOOK_SECONDS", 0.0)


def become_newer(database) -> None:
    """As the next release does: a file of the engine's chain that this code does not have."""
    number = migrations.status(database).known + 1
    row = f"('{migrations.ENGINE}', {number}, 'next', 'digest')"
    record = f"insert into haulwright_migrations (chain, number, name, digest) values {row}"  # noqa: S608 - from above
    database.transact(lambda connection: connection.execute(record))


def test_a_worker_that_is_older_than_the_schema_finishes_what_it_holds_and_claims_nothing_more(app, settings, caplog):
    later = []

    @app.task()
    def held() -> str:
        become_newer(app.store.database)
        later.append(held.enqueue())
        return "finished"

    first = held.enqueue()

    with (
        caplog.at_level(logging.ERROR, "haulwright.worker"),
        pytest.raises(SchemaMismatch, match="this code knows") as end,
    ):
        run_worker(app, settings=settings, concurrency=1, poll_interval=0.05, max_jobs=2)

    assert (first.state(), first.result()) == (State.SUCCEEDED, "finished")
    assert (later[0].state(), later[0].job().attempts) == (State.QUEUED, 0)
    assert (end.value.exit_code, "Upgrade Haulwright" in end.value.hint) == (DatabaseProblem.exit_code, True)
    assert len([record for record in caplog.records if "newer than this worker" in record.getMessage()]) == 1


def test_leases_of_a_worker_that_is_older_than_the_schema_are_renewed_until_it_has_finished(app, settings):
    seen = threading.Event()

    @app.task(lease="1 s")
    def held() -> int:
        become_newer(app.store.database)
        heartbeat = "select heartbeat_at from haulwright_jobs"
        ((before,),) = app.store.database.read(lambda connection: connection.execute(heartbeat))
        while not seen.is_set():
            ((now,),) = app.store.database.read(lambda connection: connection.execute(heartbeat))
            seen.set() if now > before else seen.wait(0.02)
        return 1

    handle = held.enqueue()

    with pytest.raises(SchemaMismatch):
        run_worker(app, settings=settings, concurrency=1, poll_interval=0.05)

    assert (handle.state(), handle.job().losses) == (State.SUCCEEDED, 0)


def test_a_child_process_of_such_a_worker_finishes_its_job_too(database_url, settings, monkeypatch):
    database = open_database(database_url)
    migrations.migrate(database)
    with isolated.app.moved_to(database_url) as app:
        handle = isolated.where.enqueue()
        claim = app.store.leases.claim

        def claim_before_the_upgrade(*args, **bounds):
            leases = claim(*args, **bounds)
            become_newer(database) if leases else None
            return leases

        monkeypatch.setattr(app.store.leases, "claim", claim_before_the_upgrade)
        with pytest.raises(SchemaMismatch):
            run_worker(app, settings=settings, poll_interval=0.05)
        assert (handle.state(), handle.job().attempts, handle.job().deferrals) == (State.SUCCEEDED, 1, 0)
    database.close()

"""A worker that starts takes back what processes of its host left that are provably gone, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import importable
from tests.runtime.waiting import eventually

TASKS = """
    import sys, time
    from pathlib import Path
    from haulwright import Context, Haulwright

    app = Haulwright(sys.argv[1])

    def note(n: int) -> None:
        with Path(sys.argv[2]).open("a") as notes:
            notes.write(f"{n}\\n")

    @app.task(lease="1 h")
    def work(ctx: Context, n: int) -> int:
        ctx.effect("note", note, n)
        time.sleep(0 if len(sys.argv) > 3 else 600)
        return n

    if __name__ == "__main__":
        app.run_worker(until_empty=True, concurrency=4)
"""


@pytest.fixture(params=["sqlite_url", pytest.param("durable_postgres_url", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """Databases that keep what they acknowledged."""
    url = str(request.getfixturevalue(request.param))
    with closing(open_database(url)) as database:
        migrations.migrate(database)
    return url


@contextmanager
def a_worker(folder: Path, url: str, *more: str, lease: str = "1 h") -> Iterator[subprocess.Popen[bytes]]:
    """A worker process that takes its jobs and then hangs in them, unless it is told more."""
    script = folder / "tasks.py"
    script.write_text(textwrap.dedent(TASKS).replace("1 h", lease))
    process = subprocess.Popen([sys.executable, script, url, folder / "notes", *more])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def has_noted(app, handle):
    return [effect.state for effect in app.operations().effects.of_job(handle.id).rows] == ["done"]


@pytest.mark.crash
@pytest.mark.proves("SR-01", "SR-02", "SR-03", "SR-04", "CLM-14", "HB-13", "TS-05")
def test_the_jobs_of_a_killed_process_come_back_at_once_and_those_of_a_live_one_do_not(url, tmp_path):
    with closing(Haulwright(url)) as app:

        @app.task(lease="1 h")
        def work(n: int) -> int: ...

        handles = [work.enqueue(n) for n in range(3)]
        with a_worker(tmp_path, url):
            eventually(lambda: all(has_noted(app, handle) for handle in handles))
            assert app.run_worker(until_empty=True) == 0
        with a_worker(tmp_path, url, "quickly") as second:
            assert second.wait(90) == 0

        assert [handle.result(0) for handle in handles] == [0, 1, 2]
        assert [(handle.job().attempts, handle.job().losses) for handle in handles] == [(1, 1)] * 3
        assert sorted((tmp_path / "notes").read_text().split()) == ["0", "1", "2"]
        (recovered,) = app.store.events.latest(name="worker.recovered")
        assert (recovered.data["jobs"], recovered.data["reason"]) == (3, "worker_startup_recovery")
        (lost,) = [
            event for event in app.operations().jobs.timeline(handles[0].id).rows if event.name == "job.lease_expired"
        ]
        assert lost.data["detected_by"] == "worker_startup_recovery"


@pytest.mark.crash
def test_a_job_that_was_alone_in_a_killed_process_pays_for_it_with_an_attempt(url, tmp_path):
    with closing(Haulwright(url)) as app:

        @app.task(lease="1 h")
        def work(n: int) -> int: ...

        handle = work.enqueue(0)
        with a_worker(tmp_path, url):
            eventually(lambda: has_noted(app, handle))
        with a_worker(tmp_path, url, "quickly") as second:
            assert second.wait(90) == 0

        assert (handle.result(0), handle.job().attempts, handle.job().losses) == (0, 2, 1)


@pytest.mark.proves("SR-05", "HB-02")
def test_a_lease_that_ran_out_is_taken_back_before_the_first_claim(url, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", url)
    with closing(importable.app) as app:
        handle = importable.late.enqueue()
        app.store.leases.claim(new_id(), ["default"])
        run_out = "update haulwright_jobs set lease_expires_at = 1"
        app.store.database.transact(lambda connection: connection.execute(run_out))

        assert app.run_worker(once=True) == 1
        assert (handle.result(0), handle.job().losses) == ("second", 1)


def test_a_lease_that_is_renewed_as_soon_as_the_database_is_back_is_not_taken_by_a_worker_that_starts(url, monkeypatch):
    """A live worker could not renew while the database was away: the one that starts gives it a moment."""
    with closing(Haulwright(url)) as app:

        @app.task(lease="1 h")
        def work() -> None: ...

        handle, looked, look = work.enqueue(), threading.Event(), app.store.recovery.ending
        (lease,) = app.store.leases.claim(new_id(), ["default"])
        run_out = "update haulwright_jobs set lease_expires_at = 1"
        app.store.database.transact(lambda connection: connection.execute(run_out))
        monkeypatch.setattr(app.store.recovery, "ending", lambda *said: (look(*said), looked.set())[0])
        starting = threading.Thread(target=app.run_worker, kwargs={"once": True}, daemon=True)
        starting.start()

        assert looked.wait(90)
        lost = app.store.leases.renew([lease]).lost
        starting.join(60)

        assert not lost
        assert (handle.job().state, handle.job().fence, handle.job().losses) == (State.RUNNING, lease.fence, 0)

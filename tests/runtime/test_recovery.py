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
from haulwright.runtime import identity
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
def a_worker(folder: Path, url: str, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process that takes its jobs and then hangs in them, unless it is told more."""
    script = folder / "tasks.py"
    script.write_text(textwrap.dedent(TASKS))
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
            assert second.wait(30) == 0

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
            assert second.wait(30) == 0

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

        handle, looked, reap = work.enqueue(), threading.Event(), app.store.recovery.reap
        (lease,) = app.store.leases.claim(new_id(), ["default"])
        run_out = "update haulwright_jobs set lease_expires_at = 1"
        app.store.database.transact(lambda connection: connection.execute(run_out))
        monkeypatch.setattr(app.store.recovery, "reap", lambda *said, **more: (reap(*said, **more), looked.set())[0])
        starting = threading.Thread(target=app.run_worker, kwargs={"once": True}, daemon=True)
        starting.start()

        assert looked.wait(30)
        lost = app.store.leases.renew([lease]).lost
        starting.join(60)

        assert not lost
        assert (handle.job().state, handle.job().fence, handle.job().losses) == (State.RUNNING, lease.fence, 0)


def test_a_process_that_runs_is_not_gone_and_one_that_ended_is():
    me = identity.this_process()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = identity.started_at(child.pid)

    assert not identity.is_gone(me.boot_id, me.pid, me.pid_started)
    assert not identity.is_gone(me.boot_id, child.pid, started)
    child.stdin.close()
    eventually(lambda: identity.is_gone(me.boot_id, child.pid, started))  # before its parent takes note of it
    child.wait()
    assert identity.is_gone(me.boot_id, child.pid, started)


def test_the_number_of_a_process_may_be_taken_by_another():
    me = identity.this_process()

    assert identity.is_gone(me.boot_id, me.pid, "1")


def test_an_earlier_boot_of_this_machine_is_gone_and_another_machine_is_not(monkeypatch):
    monkeypatch.setattr(identity, "boot_id", lambda: "machine/boot-2/pid:[1]")

    assert identity.is_gone("machine/boot-1/pid:[1]", 1, "1")
    assert not identity.is_gone("other/boot-1/pid:[1]", 1, "1")
    assert not identity.is_gone("/boot-1/pid:[1]", 1, "1")
    assert not identity.is_gone("machine/boot-2/pid:[2]", 1, "1")
    assert not identity.is_gone("", 1, "1")
    assert not identity.is_gone("machine/boot-1/pid:[1]", 1, "")


@pytest.mark.proves("CLM-06")
def test_a_worker_without_a_name_is_called_after_its_host():
    one, other = identity.this_process(), identity.this_process()

    assert one.id != other.id
    assert one.name == f"{one.host}-{one.id[-8:]}"

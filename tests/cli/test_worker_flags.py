"""Every flag of a worker does what it says: each of these tests is red where its flag does nothing."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from tests.cli.conftest import SHOP
from tests.cli.test_worker import SLOW_APP
from tests.runtime.waiting import eventually
from tests.stores.scenes import claim_one, new_job, rows

TURNS_APP = """
import time
from pathlib import Path
from haulwright import Haulwright
app = Haulwright()
@app.task()
def turn(n: int) -> None:
    for word in ("begin", "end"):
        with Path("turns").open("a") as file:
            file.write(f"{word} {n}\\n")
        time.sleep(0.02)
"""
TABLES = {
    "sqlite": "select name from sqlite_master where type = 'table' and name like 'haulwright%' order by name",
    "postgres": "select table_name::text from information_schema.tables where table_schema = current_schema() "
    "and table_type = 'BASE TABLE' order by table_name",
}


@pytest.fixture
def worker(process, database_url):
    """A worker process that is told to stop when the test is over."""
    started = []

    def start(*words, app=SHOP, **extra):
        started.append(process("worker", "-A", app, "--database", database_url, *words, extra=extra))
        for line in started[-1].stderr:
            if "worker started" in line:
                return started[-1]
        raise AssertionError(f"no worker: {started[-1].wait()}")

    yield start
    for one in started:
        one.kill()
        one.wait()
        one.stdout.close()
        one.stderr.close()


@pytest.mark.proves("CLI-02")
def test_a_dry_run_leaves_every_row_of_every_table_as_it_is(clock, haulwright, enqueue, dead, store):
    dead()
    enqueue("price", "sku=A1")
    enqueue("fetch", "url=x", "--delay", "1 h")
    claim_one(store, new_id())
    clock.advance(500)  # a lease that could be taken back, and slots that are due
    before = everything(store)

    assert haulwright("worker", "-A", SHOP, "--dry-run", "--queues", "default,slow").code == 0
    assert haulwright("worker", "-A", SHOP, "--dry-run", "--once", "--exclusive", "--until-empty").code == 6

    assert everything(store) == before
    assert len(before) > 10


def test_queues_are_served_in_the_order_in_which_they_are_named(haulwright, enqueue):
    enqueue("price", "sku=A1", "--queue", "second")
    enqueue("price", "sku=A2", "--queue", "first")
    enqueue("price", "sku=A3", "--queue", "third")

    for _ in range(3):
        haulwright("worker", "-A", SHOP, "--once", "--queues", "first, second")

    jobs = haulwright("job", "list", "--json").json["jobs"]
    done = sorted((job["finished_at"], job["queue"]) for job in jobs if job["state"] == "succeeded")
    assert [queue for _, queue in done] == ["first", "second"]


@pytest.mark.parametrize(("concurrency", "alone"), [("1", True), ("4", False)])
def test_concurrency_is_how_many_run_at_once(haulwright, concurrency, alone):
    Path("turns_app.py").write_text(TURNS_APP)
    for n in range(4):
        haulwright("run", "-A", "turns_app:app", "turn", f"n={n}")

    haulwright("worker", "-A", "turns_app:app", "--until-empty", "--concurrency", concurrency)

    turns = Path("turns").read_text().split()[::2]
    assert (turns == ["begin", "end"] * 4) is alone


def test_grace_is_what_runs_get_to_finish(worker, haulwright):
    Path("slow_app.py").write_text(SLOW_APP)
    job_id = haulwright("run", "-A", "slow_app:app", "slow", "name=begun").out.strip()
    stopped = worker("--grace", "0.1 s", app="slow_app:app", HAULWRIGHT_GRACE_SECONDS="3600")
    eventually(Path("begun").exists)

    stopped.send_signal(signal.SIGTERM)
    stopped.communicate(timeout=90)

    job = haulwright("job", "show", job_id, "--json").json
    assert (stopped.returncode, job["state"], job["attempts"]) == (0, "queued", 0)


@pytest.mark.proves("CLI-02", "HB-02")
def test_the_stale_check_interval_is_that_between_two_sweeps(worker, clock, store):
    """A lease that ended long ago, and a job past its deadline, both after the sweep with which every worker begins."""
    worker("--queues", "other", "--stale-check-interval", "0.1 s", HAULWRIGHT_STALE_CHECK_INTERVAL_SECONDS="3600")
    store.jobs.enqueue([new_job(lease_us=SECOND)])
    lost = claim_one(store, new_id()).id
    late = new_job(deadline_us=SECOND)
    store.jobs.enqueue([late])

    clock.advance(200)

    eventually(lambda: store.listing.get(lost).losses == 1)
    eventually(lambda: store.listing.get(late.id).reason == "deadline")


@pytest.mark.postgres
@pytest.mark.proves("CLI-02")
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_the_poll_interval_is_the_longest_sleep_of_an_idle_worker(worker, store):
    """Without it they grow longer and longer: a hundred looks would take days."""
    worker("--poll-interval", "0.02 s", HAULWRIGHT_POLL_INTERVAL_SECONDS="3600")
    looks = set()

    def has_looked_often():
        asked = "select pid, query_start::text from pg_stat_activity where query like 'with recursive%'"
        looks.update(rows(store, f"{asked} and pid <> pg_backend_pid()"))
        return len(looks) >= 100

    eventually(has_looked_often)


def everything(store):
    """All rows of all tables."""
    names = [name for (name,) in rows(store, TABLES[store.database.dialect])]
    return {name: sorted(map(repr, rows(store, f"select * from {name}"))) for name in names}  # noqa: S608 - from the catalogue

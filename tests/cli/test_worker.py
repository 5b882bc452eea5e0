"""The worker command: how much it runs, how it ends, and a peek that writes nothing."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path

import pytest

from haulwright.engine.ids import new_id
from haulwright.runtime.identity import this_process
from tests.cli.conftest import SHOP

SLOW_APP = """
import time
from pathlib import Path
from haulwright import Haulwright
app = Haulwright()
@app.task()
def slow(name: str) -> str:
    Path(name).write_text("begun")
    while not Path("go").exists():
        time.sleep(0.01)
    return name
"""


def states(haulwright):
    return [job["state"] for job in haulwright("job", "list", "--json").json["jobs"]]


@pytest.mark.proves("CLI-01", "CLI-02", "CLI-04")
def test_once_runs_one_job_and_says_when_there_is_none(haulwright, enqueue):
    enqueue("price", "sku=A1")
    enqueue("price", "sku=A2")

    codes = [haulwright("worker", "-A", SHOP, "--once").code for _ in range(3)]

    assert codes == [0, 0, 6]
    assert states(haulwright) == ["succeeded", "succeeded"]


@pytest.mark.proves("CLI-02")
@pytest.mark.parametrize(("most", "ran"), [("2", 2), ("0", 3), ("-1", 3)])
def test_max_jobs_is_a_limit_and_none_where_it_is_not_positive(haulwright, enqueue, most, ran):
    for sku in "ABC":
        enqueue("price", f"sku={sku}")

    answer = haulwright("worker", "-A", SHOP, "--until-empty", "--max-jobs", most, "--json")

    assert answer.json == {"runs": ran}
    assert states(haulwright).count("succeeded") == ran


@pytest.mark.proves("CLI-02")
def test_a_dry_run_tells_what_would_be_claimed_and_writes_nothing(haulwright, enqueue, store):
    urgent = enqueue("price", "sku=A1", "--priority", "5", "--tenant", "zoo")
    plain = enqueue("price", "sku=A2", "--tenant", "acme")
    enqueue("price", "sku=A3", "--delay", "1 h")
    events, workers = store.events.latest(), store.workers.list(everyone=True)

    found = haulwright("worker", "-A", SHOP, "--dry-run", "--json").json["would_claim"]

    assert [job["id"] for job in found] == [urgent, plain]
    assert set(states(haulwright)) == {"queued"}
    assert (store.events.latest(), store.workers.list(everyone=True)) == (events, workers)


def test_a_dry_run_claims_by_the_rules_of_a_claim(haulwright, store, enqueue):
    for name in ("acme", "acme", "acme", "zoo"):
        enqueue("price", f"sku={name}", "--tenant", name)

    told = haulwright("worker", "-A", SHOP, "--dry-run", "--max-jobs", "2", "--json").json["would_claim"]

    assert [job["id"] for job in told] == [lease.id for lease in store.leases.claim(new_id(), ["default"], 2)]


def test_a_dry_run_leaves_every_byte_of_the_file_as_it_is(on_file, tmp_path):
    on_file("run", "-A", SHOP, "price", "sku=A1")
    before = (tmp_path / "haulwright.db").read_bytes()

    assert on_file("worker", "-A", SHOP, "--dry-run", "--once").code == 0
    assert (tmp_path / "haulwright.db").read_bytes() == before


def test_a_dry_run_makes_no_database(on_file, tmp_path):
    assert on_file("worker", "-A", SHOP, "--dry-run").code == 0
    assert on_file("worker", "-A", SHOP, "--dry-run", "--once").code == 6
    assert not (tmp_path / "haulwright.db").exists()


def test_a_dry_run_does_not_even_touch_a_database_that_is_not_ours(on_file, tmp_path):
    file = tmp_path / "haulwright.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table theirs (id)")
    connection.close()
    before = file.read_bytes()

    assert on_file("worker", "-A", SHOP, "--dry-run").code == 0
    assert file.read_bytes() == before


def test_an_exclusive_worker_does_not_start_beside_another(process, store, database_url):
    store.workers.register(this_process("other"), ["default"], [])

    second = process("worker", "-A", SHOP, "--exclusive", "--until-empty", "--database", database_url)
    _, told = second.communicate(timeout=90)

    assert second.returncode == 4
    assert "Worker other is alive" in told


@pytest.mark.proves("LG-02", "LG-03")
def test_lines_for_programs_carry_job_tenant_attempt_and_worker(haulwright, enqueue):
    job_id = enqueue("price", "sku=bad", "--tenant", "acme", "--correlation-id", "c-1")

    words = ("--until-empty", "--log-format", "json", "--name", "w1", "--verbose")
    answer = haulwright("worker", "-A", SHOP, *words)

    lines = [json.loads(line) for line in answer.err.splitlines()]
    told = {line["message"]: line for line in lines if line.get("job") == job_id}
    for message in ("job started", "job dead"):
        line = told[message]
        assert (line["tenant"], line["attempt"], line["worker"], line["correlation"]) == ("acme", "1/1", "w1", "c-1")


def test_flags_stand_above_the_environment(haulwright, enqueue, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_QUEUES", "nothing")
    monkeypatch.setenv("HAULWRIGHT_APP", SHOP)
    enqueue("price", "sku=A1")

    assert haulwright("worker", "--once").code == 6
    assert haulwright("worker", "--once", "--queues", "default").code == 0


@pytest.mark.proves("CLI-03")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_a_worker(process, on_file, sqlite_url, number):
    Path("slow_app.py").write_text(SLOW_APP)
    first, second = (
        on_file("run", "-A", "slow_app:app", "slow", f"name={name}").out.strip() for name in ("first", "second")
    )
    worker = process("worker", "-A", "slow_app:app", "--database", sqlite_url, "--concurrency", "1")
    while not Path("first").exists():
        assert worker.poll() is None

    worker.send_signal(number)
    _wait_for_state(on_file, second, attempts=0)
    Path("go").touch()

    worker.communicate(timeout=90)
    assert worker.returncode == 0
    assert on_file("job", "show", first, "--json").json["state"] == "succeeded"
    assert on_file("job", "show", second, "--json").json["state"] == "queued"


def test_a_job_of_an_unknown_task_stays_queued_and_says_so(haulwright, enqueue):
    enqueue("price", "sku=A1")
    Path("empty_app.py").write_text("from haulwright import Haulwright\napp = Haulwright()\n")

    answer = haulwright("worker", "-A", "empty_app:app", "--once")

    assert answer.code == 6
    assert "its task is unknown here" in answer.err
    assert haulwright("job", "list", "--json").json["jobs"][0]["waiting_on"] == "task:unknown"


def test_the_app_is_found_by_the_project_file_from_a_folder_below_it(on_file, monkeypatch):
    Path("project_app.py").write_text(SLOW_APP)
    Path("pyproject.toml").write_text('[tool.haulwright]\napp = "project_app:app"\n')
    Path("below").mkdir()
    monkeypatch.chdir("below")

    assert on_file("run", "slow", "name=x").code == 0


def _wait_for_state(on_file, job_id, *, attempts):
    """Until a job that was claimed beforehand is given back."""
    while True:
        job = on_file("job", "show", job_id, "--json").json
        if (job["state"], job["attempts"]) == ("queued", attempts):
            return


@pytest.mark.proves("CLI-02")
def test_once_ends_with_75_where_its_job_has_to_wait_and_says_which(haulwright, enqueue):
    job_id = enqueue("fetch", "url=x")

    answer = haulwright("worker", "-A", SHOP, "--once", "--queues", "slow")

    assert answer.code == 75
    assert f"Job {job_id} is not finished" in answer.err
    assert f"job why {job_id}" in answer.err


SLIPS_APP = """
from haulwright import Haulwright
app = Haulwright()
shop = app.source("shop.example", rate="30/min")
@app.task(queue="slow", source="shop.exmaple")
def fetch() -> None: ...
"""


def test_a_worker_warns_of_queues_and_sources_that_it_would_wait_for_in_vain(on_file):
    """Misspelt, neither fails: the jobs would lie there, or run past the gate, and nobody would hear of it."""
    Path("slips.py").write_text(SLIPS_APP)
    Path("slips_too.py").write_text(SLIPS_APP + "@app.task\ndef plain() -> None: ...\n")

    def warnings(*words):
        err = on_file("worker", "--until-empty", "--log-format", "json", *words).err
        return [line["message"] for line in map(json.loads, err.splitlines()) if line["level"] == "warning"]

    elsewhere, source = warnings("-A", "slips:app")
    unnamed, _ = warnings("-A", "slips_too:app")
    chosen = warnings("-A", "slips_too:app", "--queues", "default")

    assert "no task of the app goes to the queue 'default' that is served here, but to 'slow'. " in elsewhere
    assert elsewhere.endswith(" worker --queues slow")
    assert "the source 'shop.exmaple', which the app does not declare. Did you mean 'shop.example'?" in source
    assert "go to the queue 'slow', which is served only where it is named. " in unnamed
    assert unnamed.endswith(" worker --queues default,slow")
    assert chosen == [source]
    findings = on_file("doctor", "-A", "slips:app", "--json").json["findings"]
    assert [finding["level"] for finding in findings if finding["check"] == "source"] == ["warn"]


def test_a_worker_that_stops_when_nothing_is_due_says_what_is_left_for_later(enqueue, work):
    """Without it a retry in an hour looks like work that is done."""
    enqueue("fetch", "url=A1")

    told = work().err

    assert "one job is left for later. See them: haulwright " in told
    assert " job list --state queued" in told

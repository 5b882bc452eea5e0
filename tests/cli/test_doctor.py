"""The doctor: what is well, what is not, and what to do."""

from __future__ import annotations

from pathlib import Path

from haulwright.engine.ids import new_id
from haulwright.runtime.identity import this_process
from tests.cli.conftest import SHOP
from tests.stores.scenes import claim_one


def findings(answer, level):
    return {one["check"]: one for one in answer.json["findings"] if one["level"] == level}


def test_a_healthy_installation_has_no_problem(haulwright, store):
    store.workers.register(this_process("w"), ["default"], [])

    answer = haulwright("doctor", "-A", SHOP, "--json")

    assert (answer.code, answer.json["problems"]) == (0, 0)
    assert {"python", "app", "schema", "clock", "workers", "leases"} <= set(findings(answer, "ok"))


def test_a_machine_without_a_database_gets_none(on_file, tmp_path):
    answer = on_file("doctor", "--json")

    assert answer.code == 0
    assert "made on first use" in findings(answer, "warn")["database"]["sentence"]
    assert not (tmp_path / "haulwright.db").exists()


def test_due_jobs_that_nobody_serves_are_a_problem(haulwright, enqueue):
    enqueue("fetch", "url=x")

    answer = haulwright("doctor", "--json")

    assert answer.code == 5
    assert findings(answer, "problem")["queue"]["next_step"] == "haulwright worker --queues slow"


def test_leases_that_ran_out_are_told_with_the_silence_of_their_worker(haulwright, clock, enqueue, store):
    job_id = enqueue("price", "sku=A1")
    claim_one(store, new_id())
    clock.advance(600)

    told = findings(haulwright("doctor", "--json"), "problem")["leases"]

    assert job_id in told["sentence"]
    assert "10 min" in told["sentence"]


def test_a_clock_that_differs_from_the_database_is_told(haulwright, clock):
    assert clock.now() < 1_800_000_000_000_000

    assert "behind" in findings(haulwright("doctor", "--json"), "warn")["clock"]["sentence"]


def test_an_app_that_cannot_be_imported_is_a_problem_and_the_rest_is_still_looked_at(haulwright):
    answer = haulwright("doctor", "-A", "not_here:app", "--json")

    assert answer.code == 5
    assert "There is no module not_here" in findings(answer, "problem")["app"]["sentence"]
    assert "python" in findings(answer, "ok")


def test_a_task_whose_annotations_cannot_be_read_is_a_problem(on_file):
    Path("riddle_app.py").write_text(
        "from __future__ import annotations\nfrom haulwright import Haulwright\napp = Haulwright()\n"
        "@app.task()\ndef riddle(what: Sphinx) -> None: ...\n"
    )

    answer = on_file("doctor", "-A", "riddle_app:app", "--json")

    assert answer.code == 5
    assert "Sphinx" in str(findings(answer, "problem"))


def test_settings_that_differ_from_their_default_are_named_with_their_origin(on_file, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_CONCURRENCY", "3")

    assert "concurrency = 3 (from HAULWRIGHT_CONCURRENCY)" in on_file("doctor").out


def test_a_database_that_cannot_be_reached_is_a_problem(bare):
    answer = bare("doctor", "--database", "postgresql://127.0.0.1:1/x", "--json")

    assert answer.code == 5
    assert "cannot be reached" in findings(answer, "problem")["database"]["sentence"]


def test_a_paused_queue_is_told(haulwright, enqueue):
    enqueue("price", "sku=A1")
    haulwright("queue", "pause", "default")

    assert findings(haulwright("doctor", "--json"), "warn")["queue"]["next_step"] == "haulwright queue resume default"

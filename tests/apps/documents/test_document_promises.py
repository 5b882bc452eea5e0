"""Document 004, the rest, each executed or compared: what it guarantees, its figures, its tests, its pipeline."""

from __future__ import annotations

import importlib
import re
from dataclasses import fields
from pathlib import Path

import pytest

from haulwright.apps.documents import compat as doc
from haulwright.apps.documents.application import UPKEEP
from haulwright.apps.documents.compat.job_reconciler import STALE_PART_SECONDS
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.operations.principal import Principal
from haulwright.settings import Settings
from tests.apps.documents.plain import WORK
from tests.apps.documents.scenes import TENANT, World, aged

line = pytest.mark.line
PAGE = "applications/documents.md"
FOLDER = Path(__file__).parent


@line("14", "downloads, finalization, indexing and deduplication happen once each")
@line("363", "file work goes through effects that happen once")
@pytest.mark.parametrize("small_bytes", [0, 1024**2], ids=["step by step", "at once"])
def test_each_step_happens_once(bench, sandbox, tmp_path, small_bytes):
    world = World.open(bench, sandbox, tmp_path / "content", small_bytes=small_bytes)
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", before="settle"):
        world.bench.drain()
    world.finish()

    assert world.state(planned) == "INDEXED"
    assert world.asked("report.txt") == (2 if small_bytes else 1)
    done = world.rows("select op_type from artifact_ops where state = 'done' order by op_type")
    assert [op for (op,) in done] == ["DEDUPE", "FINALIZE", "HEAD", "INDEX", "STREAM"]
    assert len(world.stored()) == 1


@line("15", "after a crash database and files are brought to agree, and anomalies are found")
@line("296", "they are when a worker starts")
def test_database_and_files_are_brought_to_agree(world, stored):
    planned, path = stored
    path.unlink()
    world.documents.reconcile(Principal.system())
    world.finish()

    assert world.state(planned) == "INDEXED"
    assert world.stored() == [path]


@line("16", "several workers coordinate through leases in SQLite, one for a job")
def test_two_workers_never_share_a_job(conn, connect):
    for number in range(6):
        doc.plan_job_if_absent(conn, **{**WORK, "work_id": f"work-{number}"})
    workers = [(connect(), f"worker-{number}") for number in range(3)]

    leased = [doc.lease_next_job(conn, owner=name)["job_id"] for _ in range(2) for conn, name in workers]

    assert len(set(leased)) == 6


@line("17", "planning is deterministic: a manifest that is read again plans nothing new")
@line("360", "jobs are planned while a manifest is read")
def test_a_manifest_that_is_read_again_plans_nothing(world):
    first, again = (world.add("report.txt") for _ in range(2))

    assert (first.created, again.created, first.job_id == again.job_id) == (True, False, True)
    assert world.rows("select count(*) from artifact_jobs") == [(1,)]


@line("18", "moves that are not in the machine are prevented")
@line("362", "the pipeline moves a document at each step")
def test_the_pipeline_goes_through_the_machine(steps):
    world = steps
    planned = world.add("report.txt")
    seen = []
    for name in ("STREAM", "FINALIZE"):
        with world.bench.crash("documents.fetch", before=name):
            world.bench.drain()
        seen.append(world.state(planned))
        world.bench.advance("10 min")
    world.finish()

    order = ["HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED", "INDEXED"]
    assert [order.index(state) for state in seen] == sorted(order.index(state) for state in seen)
    assert world.state(planned) == "INDEXED"


@line("310", "the lease is 120 seconds unless it is set otherwise")
@line("311-314", "it can be adjusted, by how long operations take, bearable rework and number of workers")
def test_the_lease_is_a_setting():
    ours = DocumentSettings.load(Settings.load({"HAULWRIGHT_DOCUMENTS_LEASE_SECONDS": "30"}))

    assert DocumentSettings.load(Settings.load({})).lease_seconds == 120
    assert ours.lease_seconds == 30


@line("320", "reconciling runs when a worker starts")
def test_reconciling_runs_when_a_worker_starts(world):
    world.documents.app.run_worker(queues=(UPKEEP,), until_empty=True)

    assert len(world.events("documents.reconciled")) == 1


@line("321", "reconciling runs every hour")
def test_reconciling_runs_every_hour(world):
    counts = []
    for length in ("5 min", "5 min", "1 h"):
        world.bench.advance(length)
        world.bench.drain()
        counts.append(len(world.events("documents.reconciled")))

    assert counts == [1, 1, 2]


@line("322", "reconciling runs after many failures at once")
def test_reconciling_runs_after_many_failures(world):
    world.bench.advance("5 min")
    world.bench.drain()
    for number in range(5):
        world.add(f"{number}.txt")
    for _ in range(5):
        with world.bench.crash("documents.fetch", after="claim"):
            world.bench.drain()
    world.bench.advance("5 min")
    world.bench.drain()

    assert len(world.events("documents.reconciled")) == 2


@line("326", "a part is stale after 3600 seconds, as a setting")
@pytest.mark.usefixtures("stored")
def test_when_a_part_is_stale_is_a_setting(world):
    part = world.documents.folders.staging(TENANT) / "parts" / "unknown.unknown.1.part"
    part.write_bytes(b"x")
    aged(part, 3_500)
    world.documents.reconcile(Principal.system())
    assert part.exists()
    aged(part, 200)

    world.documents.reconcile(Principal.system())

    assert not part.exists()
    assert DocumentSettings.load(Settings.load({})).stale_part_seconds == STALE_PART_SECONDS == 3_600


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("keys_are_the_same", marks=line("334", "keys are tested")),
        pytest.param("planned_once", marks=line("335", "planning is tested")),
        pytest.param("one_worker_gets_a_job", marks=line("336", "leasing is tested")),
        pytest.param("renewed_and_released", marks=line("337", "renewal and release are tested")),
        pytest.param("ends_by_itself", marks=line("338", "expiry is tested")),
        pytest.param(
            "not_allowed_is_a_runtime_error", marks=line("339-340", "the machine and its refusals are tested")
        ),
        pytest.param("goes_its_whole_way", marks=line("341", "whole ways through the states are tested")),
        pytest.param("done_once", marks=line("342-343", "effects and their replay are tested")),
        pytest.param("process_died", marks=line("344", "recovery is tested")),
        pytest.param("stale_leases", marks=line("345", "clearing of stale leases is tested")),
        pytest.param("abandoned_operations", marks=line("346", "abandoned operations are tested")),
        pytest.param("stale_parts", marks=line("347", "clearing of stale files is tested")),
    ],
)
def test_there_are_tests_of_it(words):
    assert words in "".join(re.findall(r"def (test_\w+)", (FOLDER / "test_compat.py").read_text("utf-8")))


@line("6", "22 tests pass")
@line("332", "there are at least 22 tests")
@line("349", "they are run by pytest on one file")
@line("383", "they pass")
def test_there_are_enough_tests():
    assert (FOLDER / "test_compat.py").read_text("utf-8").count("def test_") >= 22


@line("359", "a runner migrates when it starts")
def test_a_runner_migrates_when_it_starts(world, bench):
    assert world.rows("select schema_version from _meta") == [(3,)]
    assert bench.store


@line(
    "365-375",
    "a switch in the environment turns idempotency on, off by default",
    differs="leases and the ledger cannot be switched off",
    page=f"{PAGE}#settings",
)
def test_a_switch_turns_idempotency_on():
    assert [field.name for field in fields(DocumentSettings) if "idempotency" in field.name]


@pytest.mark.parametrize(
    "module",
    [
        "schema_migration", "idempotency", "job_planning", "job_leasing", "job_state", "job_effects", "job_reconciler",
    ],
)  # fmt: skip
@line("70-187", "the seven modules have their names")
@line("382", "every module can be imported")
@pytest.mark.proves("CLI-06")
def test_a_module_can_be_imported(module):
    assert importlib.import_module(f"haulwright.apps.documents.compat.{module}")


@line("384", "at start nothing is stale")
def test_at_start_nothing_is_stale(conn):
    assert doc.reconcile_jobs(conn, staging_root=Path("nowhere")) == {
        "stale_leases": 0,
        "stale_ops": 0,
        "stale_files": 0,
    }


@line("388", "recovery can be tried by hand: reconciling without changing anything tells what it would do")
def test_recovery_can_be_tried_by_hand(world, stored):
    _, path = stored
    path.unlink()

    report = world.documents.reconcile(Principal.system(), dry_run=True)

    assert "row_without_file" in str(report)
    assert world.stored() == []


@line("394", "it is part of the download itself")
@line(
    "396",
    "deployments on many hosts are served",
)
def test_the_same_pipeline_runs_on_both_databases(world):
    planned = world.add("report.txt")
    world.finish()

    assert (world.state(planned), world.standing(planned, TENANT)["sha256"] is not None) == ("INDEXED", True)


@line("395", "usage and runbook are written down")
def test_there_is_a_runbook():
    page = (FOLDER.parents[2] / "docs" / PAGE).read_text("utf-8")

    assert all(f"## {heading}" in page for heading in ("Runbook", "From code"))

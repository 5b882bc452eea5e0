"""The functions of the document on a plain connection: its promises, its loop, and the engine on the same file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from haulwright.apps.documents import Item
from haulwright.apps.documents import compat as doc
from haulwright.errors import InvalidValue, LeaseLost, NotFound, Refused
from haulwright.operations.principal import Principal
from tests.apps.documents.plain import WORK, advance
from tests.apps.documents.scenes import aged

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.proves("TS-06")


# keys


@pytest.mark.proves("IK-01", "IK-02", "IK-03", "IK-04")
def test_keys_are_the_same_for_the_same_inputs_and_for_no_others():
    key = doc.job_key(**WORK)

    assert key == doc.job_key(**WORK)
    assert key != doc.job_key(**{**WORK, "artifact_id": "another"})
    assert doc.op_key("HEAD", key, url="u") == doc.op_key("HEAD", key, url="u") != doc.op_key("STREAM", key, url="u")
    assert doc.op_key("STREAM", key, url="u", range_start=0) != doc.op_key("STREAM", key, url="u", range_start=1)


@pytest.mark.proves("IK-03")
def test_the_id_of_a_job_stands_for_its_key(job_id):
    assert doc.op_key("HEAD", job_id, url="u") == doc.op_key("HEAD", doc.job_key(**WORK), url="u")
    with pytest.raises(InvalidValue, match="neither planned nor leased"):
        doc.op_key("HEAD", "01890000-0000-7000-8000-000000000000", url="u")


# the schema


@pytest.mark.proves("MG-01")
def test_the_schema_is_made_once_and_shows_its_version(conn, job_id):
    doc.apply_migration(conn)

    assert [row["schema_version"] for row in conn.execute("select * from _meta")] == [3]
    ((shown, state),) = conn.execute("select job_id, state from artifact_jobs").fetchall()
    assert (shown, state) == (job_id, "PLANNED")
    assert conn.execute("select op_key, job_id, op_type, result_json from artifact_ops").fetchall() == []


# planning


@pytest.mark.proves("ENQ-07", "IK-05")
def test_the_same_artefact_is_planned_once(conn, connect, job_id):
    assert doc.plan_job_if_absent(conn, **WORK) == job_id
    assert doc.plan_job_if_absent(connect(), **WORK) == job_id
    assert doc.plan_job_if_absent(conn, **{**WORK, "work_id": "another"}) != job_id


def test_a_transaction_of_the_caller_is_not_held_open(conn):
    conn.execute("begin")

    with pytest.raises(Refused, match="transaction open"):
        doc.plan_job_if_absent(conn, **WORK)


# leasing


@pytest.mark.proves("CLM-11")
def test_one_worker_gets_a_job_and_sees_what_to_do(conn, connect, job_id):
    job = doc.lease_next_job(conn, owner="worker-1", ttl_s=120)

    assert (job["job_id"], job["canonical_url"], job["state"]) == (job_id, WORK["canonical_url"], "LEASED")
    assert job["lease_owner"] == "worker-1"
    assert doc.lease_next_job(connect(), owner="worker-2") is None


def test_without_a_job_there_is_no_lease(conn):
    assert doc.lease_next_job(conn, owner="worker-1") is None


@pytest.mark.proves("CLM-12")
@pytest.mark.usefixtures("leased")
def test_a_lease_is_renewed_and_released_by_who_took_it_and_nobody_else(conn, connect, job_id):
    other = connect()

    assert doc.renew_lease(conn, job_id=job_id, owner="worker-1")
    assert not doc.renew_lease(conn, job_id=job_id, owner="worker-2")
    assert not doc.renew_lease(other, job_id=job_id, owner="worker-1")  # a name proves nothing
    assert not doc.release_lease(other, job_id=job_id, owner="worker-1")
    assert doc.release_lease(conn, job_id=job_id, owner="worker-1")
    assert not doc.release_lease(conn, job_id=job_id, owner="worker-1")
    assert doc.lease_next_job(other, owner="worker-2")["job_id"] == job_id


@pytest.mark.proves("CLM-11", "CLM-13")
def test_a_lease_ends_by_itself_unless_it_is_renewed(conn, connect, clock, job_id):
    doc.lease_next_job(conn, owner="worker-1", ttl_s=30)
    clock.advance(20)
    doc.renew_lease(conn, job_id=job_id, owner="worker-1")
    clock.advance(20)
    assert doc.lease_next_job(connect(), owner="worker-2") is None

    clock.advance(31)

    assert doc.lease_next_job(connect(), owner="worker-2")["job_id"] == job_id
    assert not doc.renew_lease(conn, job_id=job_id, owner="worker-1")


@pytest.mark.proves("CLM-12", "GU-04")
@pytest.mark.usefixtures("leased")
def test_who_lost_the_lease_can_change_nothing(conn, connect, clock, job_id):
    clock.advance(121)
    other = connect()
    doc.lease_next_job(other, owner="worker-1")

    with pytest.raises(LeaseLost):
        advance(conn, job_id, "HEAD_DONE")
    with pytest.raises(LeaseLost):
        doc.run_effect(conn, job_id, "HEAD", doc.op_key("HEAD", job_id), lambda: {"code": "OK"})
    assert not doc.release_lease(conn, job_id=job_id, owner="worker-1")
    assert doc.get_current_state(other, job_id) == "LEASED"


# states


@pytest.mark.proves("SM-01", "SM-04", "SM-05", "SM-06")
@pytest.mark.parametrize(
    "path",
    [
        ("HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED", "INDEXED"),
        ("HEAD_DONE", "STREAMING", "FINALIZED", "DEDUPED"),
        ("HEAD_DONE", "SKIPPED_DUPLICATE"),
        ("SKIPPED_DUPLICATE",),
    ],
)
@pytest.mark.usefixtures("leased")
def test_a_document_goes_its_whole_way_and_its_job_ends_with_it(conn, job_id, path):
    seen = []
    for state in path:
        advance(conn, job_id, state)
        seen.append(doc.get_current_state(conn, job_id))
    doc.release_lease(conn, job_id=job_id, owner="worker-1")

    assert tuple(seen) == path
    assert doc.get_current_state(conn, job_id) == path[-1]
    assert doc.lease_next_job(conn, owner="worker-1") is None


@pytest.mark.proves("SM-02", "SM-03")
@pytest.mark.parametrize(
    ("to", "allowed_from"), [("STREAMING", ("PLANNED",)), ("FINALIZED", ("HEAD_DONE",)), ("NONSENSE", ("HEAD_DONE",))]
)
@pytest.mark.usefixtures("leased")
def test_a_move_that_is_not_allowed_is_a_runtime_error_and_changes_nothing(conn, job_id, to, allowed_from):
    advance(conn, job_id, "HEAD_DONE")

    with pytest.raises(RuntimeError):
        doc.advance_state(conn, job_id=job_id, to_state=to, allowed_from=allowed_from)
    assert doc.get_current_state(conn, job_id) == "HEAD_DONE"


@pytest.mark.proves("SM-02")
@pytest.mark.usefixtures("leased")
def test_what_was_passed_already_is_no_error_and_nothing_goes_back(conn, job_id):
    advance(conn, job_id, "HEAD_DONE", "STREAMING")

    doc.advance_state(conn, job_id=job_id, to_state="HEAD_DONE", allowed_from=("LEASED",))

    assert doc.get_current_state(conn, job_id) == "STREAMING"


@pytest.mark.proves("SM-07")
def test_a_document_that_failed_is_tried_again_and_is_final_when_its_job_is_dead(conn, clock, job_id):
    for _ in range(5):
        job = doc.lease_next_job(conn, owner="worker-1")
        advance(conn, job["job_id"], "HEAD_DONE", "STREAMING", "FINALIZED")
        doc.advance_state(conn, job_id=job_id, to_state="FAILED", allowed_from=("LEASED",))
        assert doc.get_current_state(conn, job_id) == "FAILED"
        doc.release_lease(conn, job_id=job_id, owner="worker-1")
        clock.advance(4_000)

    assert doc.get_current_state(conn, job_id) == "FAILED"
    assert doc.lease_next_job(conn, owner="worker-1") is None
    assert [tuple(row) for row in conn.execute("select state, attempts from haulwright_history")] == [("dead", 5)]


def test_a_job_that_does_not_exist_has_no_state(conn):
    with pytest.raises(NotFound):
        doc.get_current_state(conn, "nothing")


# effects


@pytest.mark.proves("EF-01", "EF-02", "EF-03", "EF-04", "EF-06")
@pytest.mark.usefixtures("leased")
def test_an_effect_is_done_once_and_its_result_is_remembered(conn, connect, job_id):
    calls = []
    key = doc.op_key("HEAD", job_id, url="u")
    assert doc.get_effect_result(conn, key) is None

    first = doc.run_effect(conn, job_id, "HEAD", key, lambda: calls.append(1) or {"code": "OK", "status": 200})
    again = doc.run_effect(conn, job_id=job_id, kind="HEAD", opkey=key, effect_fn=lambda: calls.append(2))

    assert first == again == doc.get_effect_result(connect(), key) == {"code": "OK", "status": 200}
    assert calls == [1]
    ((state, code),) = conn.execute("select state, result_code from artifact_ops").fetchall()
    assert (state, code) == ("done", "OK")


@pytest.mark.usefixtures("leased")
def test_what_failed_or_is_no_answer_yet_is_done_again(conn, job_id):
    key = doc.op_key("HEAD", job_id, url="u")
    with pytest.raises(ZeroDivisionError):
        doc.run_effect(conn, job_id, "HEAD", key, lambda: 1 / 0)
    assert doc.run_effect(conn, job_id, "HEAD", key, lambda: {"status": 503}) == {"status": 503}
    assert doc.get_effect_result(conn, key) is None

    assert doc.run_effect(conn, job_id, "HEAD", key, lambda: {"status": 200}) == {"status": 200}


@pytest.mark.usefixtures("leased")
def test_an_effect_holds_nobody_up_while_it_happens(conn, connect, job_id):
    other = connect()

    def effect():
        return doc.plan_job_if_absent(other, **{**WORK, "work_id": "meanwhile"})

    assert doc.run_effect(conn, job_id, "STREAM", doc.op_key("STREAM", job_id), effect)


# recovery


@pytest.mark.proves("RC-02", "SR-05")
@pytest.mark.usefixtures("leased")
def test_stale_leases_are_cleared(conn, connect, clock, job_id):
    assert doc.cleanup_stale_leases(conn) == 0
    clock.advance(121)

    assert doc.cleanup_stale_leases(connect()) == 1
    assert doc.get_current_state(conn, job_id) == "PLANNED"


@pytest.mark.proves("RC-03")
@pytest.mark.usefixtures("leased")
def test_abandoned_operations_are_shown(conn, clock, job_id):
    with pytest.raises(ZeroDivisionError):
        doc.run_effect(conn, job_id, "STREAM", doc.op_key("STREAM", job_id), lambda: 1 / 0)
    assert doc.cleanup_stale_ops(conn) == 0

    advance(conn, job_id, "SKIPPED_DUPLICATE")
    doc.release_lease(conn, job_id=job_id, owner="worker-1")
    clock.advance(600)

    assert doc.cleanup_stale_ops(conn) == 1
    shown = conn.execute("select op_type from artifact_ops where state = 'abandoned'").fetchall()
    assert [row["op_type"] for row in shown] == ["STREAM"]


@pytest.mark.proves("RC-01", "RC-04")
@pytest.mark.usefixtures("leased")
def test_stale_parts_are_removed_unless_a_job_owns_them(conn, tmp_path, job_id):
    staging = tmp_path / "staging" / "deep"
    staging.mkdir(parents=True)
    for name in ("old.part", "young.part", f"{job_id}.part", "old.pdf"):
        (staging / name).write_bytes(b"x")
    for name in ("old.part", f"{job_id}.part", "old.pdf"):
        aged(staging / name)

    counts = doc.reconcile_jobs(conn, staging_root=tmp_path / "staging")

    assert counts == {"stale_leases": 0, "stale_ops": 0, "stale_files": 1}
    assert sorted(path.name for path in staging.iterdir()) == sorted(["young.part", f"{job_id}.part", "old.pdf"])
    assert doc.reconcile_jobs(conn, tmp_path / "nowhere")["stale_files"] == 0


def test_the_loop_of_the_document_runs_to_its_end_as_it_is_written(tmp_path):
    words = [sys.executable, str(Path(__file__).with_name("typical_loop.py")), str(tmp_path), ""]

    for _ in range(2):
        run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        assert run.stdout == "INDEXED", run.stderr

    assert (tmp_path / "done").read_text().split() == ["HEAD", "STREAM", "FINALIZE"]


@pytest.mark.proves("SM-10", "CLM-13", "CLM-14", "SR-05")
@pytest.mark.parametrize("dies_at", ["HEAD", "STREAM", "FINALIZE"])
def test_the_loop_of_the_document_runs_to_its_end_after_a_process_died_in_the_middle(tmp_path, dies_at):
    words = [sys.executable, str(Path(__file__).with_name("typical_loop.py")), str(tmp_path)]

    died = subprocess.run([*words, dies_at], cwd=ROOT, capture_output=True, text=True, check=False)
    after = subprocess.run([*words, ""], cwd=ROOT, capture_output=True, text=True, check=False)

    assert died.returncode == -9
    assert after.stdout.split() == ["INDEXED"], after.stderr
    done = (tmp_path / "done").read_text().split()
    assert sorted(set(done)) == ["FINALIZE", "HEAD", "STREAM"]
    assert {name for name in done if done.count(name) > 1} <= {dies_at}


# the engine on the same file


def test_the_engine_opens_the_same_file_and_knows_the_same_job(engine, job_id):
    planned = engine.add(
        Principal.of_tenant("default"), Item(WORK["canonical_url"], WORK["work_id"], WORK["artifact_id"])
    )

    assert (planned.job_id, planned.created) == (job_id, False)
    assert engine.artifacts.standing("default", job_id)["state"] == "PLANNED"

"""Document 004, lines 20 to 279, each executed or compared: keys, states, leases, effects, its modules and its loop."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from haulwright import State
from haulwright.apps.documents.compat.idempotency import job_key, op_key
from haulwright.apps.documents.compat.job_effects import get_effect_result, run_effect
from haulwright.apps.documents.compat.job_leasing import lease_next_job, release_lease, renew_lease
from haulwright.apps.documents.compat.job_planning import plan_job_if_absent
from haulwright.apps.documents.compat.job_reconciler import cleanup_stale_leases, cleanup_stale_ops, reconcile_jobs
from haulwright.apps.documents.compat.job_state import advance_state, get_current_state
from haulwright.apps.documents.compat.schema_migration import apply_migration
from tests.apps.documents.plain import UNDER_WAY, WORK, advance
from tests.apps.documents.scenes import aged

line = pytest.mark.line
PAGE = "applications/documents.md"
URL = WORK["canonical_url"]


@line("26", "keys are SHA-256 digests")
@line("31", "the same inputs always give the same key, in every process")
@line("92-102", "job_key and op_key take these arguments")
def test_the_code_of_the_keys():
    jkey = job_key(work_id="w-123", artifact_id="a-456", canonical_url=URL)
    head_key = op_key("HEAD", jkey, url=URL)
    stream_key = op_key("STREAM", jkey, url=URL, range_start=0)
    finalize_key = op_key("FINALIZE", jkey, sha256="abc123")

    assert all(re.fullmatch("[0-9a-f]{64}", key) for key in (jkey, head_key, stream_key, finalize_key))
    assert len({jkey, head_key, stream_key, finalize_key}) == 4
    assert jkey == job_key("w-123", "a-456", URL)


@pytest.mark.parametrize("part", ["work_id", "artifact_id", "canonical_url"])
@line("28", "a job key is made of work, artefact and canonical URL")
def test_every_part_of_a_job_key_counts(part):
    assert job_key(**WORK) != job_key(**{**WORK, part: "https://other.example/"})


@pytest.mark.parametrize(
    ("kind", "context"), [("STREAM", {"url": "u"}), ("HEAD", {"url": "v"}), ("HEAD", {"url": "u", "range_start": 1})]
)
@line("29", "an operation key is made of the job key, the kind and the context")
def test_every_part_of_an_operation_key_counts(kind, context):
    jkey = job_key(**WORK)

    assert op_key("HEAD", jkey, url="u") != op_key(kind, jkey, **context)
    assert op_key("HEAD", jkey, url="u") != op_key("HEAD", job_key(**{**WORK, "work_id": "w"}), url="u")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param((), marks=line("36-37", "a document is PLANNED at first, and LEASED with its lease")),
        pytest.param(("HEAD_DONE",), marks=line("38", "LEASED to HEAD_DONE")),
        pytest.param(("HEAD_DONE", "RESUME_OK"), marks=line("39", "HEAD_DONE to RESUME_OK")),
        pytest.param(("HEAD_DONE", "RESUME_OK", "STREAMING"), marks=line("40", "RESUME_OK to STREAMING")),
        pytest.param(("HEAD_DONE", "STREAMING", "FINALIZED"), marks=line("41", "STREAMING to FINALIZED")),
        pytest.param(("HEAD_DONE", "STREAMING", "FINALIZED", "INDEXED"), marks=line("42", "FINALIZED to INDEXED")),
        pytest.param(("HEAD_DONE", "STREAMING", "FINALIZED", "DEDUPED"), marks=line("43", "FINALIZED to DEDUPED")),
        pytest.param(("FAILED",), marks=line("44", "LEASED to FAILED by an error")),
        pytest.param(("SKIPPED_DUPLICATE",), marks=line("46", "a duplicate ends as SKIPPED_DUPLICATE")),
    ],
)
def test_a_way_through_the_states(conn, job_id, path):
    assert get_current_state(conn, job_id) == "PLANNED"
    lease_next_job(conn, owner="worker-1")
    advance(conn, job_id, *path)

    assert get_current_state(conn, job_id) == (path or ("LEASED",))[-1]


@line("49", "states only move forward")
@line("301", "there are no cycles and no way back")
@pytest.mark.usefixtures("leased")
def test_nothing_goes_back(conn, job_id):
    advance(conn, job_id, "HEAD_DONE", "STREAMING", "FINALIZED")
    for earlier in ("LEASED", "HEAD_DONE", "RESUME_OK", "STREAMING"):
        try:
            advance_state(conn, job_id=job_id, to_state=earlier, allowed_from=UNDER_WAY)
        except RuntimeError:
            continue
        finally:
            assert get_current_state(conn, job_id) == "FINALIZED"


@line("53", "one worker has a job at a time")
@line("54", "a lease lasts 120 seconds unless it is said otherwise")
@line("55", "the lease of a worker that crashed ends by itself")
def test_a_lease_is_one_workers_for_so_long(conn, connect, clock, job_id):
    lease_next_job(conn, owner="worker-1")
    clock.advance(119)
    assert lease_next_job(connect(), owner="worker-2") is None
    clock.advance(2)
    assert lease_next_job(connect(), owner="worker-2", ttl_s=10)["job_id"] == job_id
    clock.advance(11)

    assert cleanup_stale_leases(connect()) == 1


@line("56", "a lease can be renewed and released")
def test_a_lease_is_renewed_and_released(conn, connect, clock, job_id):
    lease_next_job(conn, owner="worker-1", ttl_s=30)
    clock.advance(25)
    assert renew_lease(conn, job_id=job_id, owner="worker-1")
    clock.advance(25)
    assert lease_next_job(connect(), owner="worker-2") is None

    release_lease(conn, job_id=job_id, owner="worker-1")

    assert lease_next_job(connect(), owner="worker-2")["job_id"] == job_id


@line("60-64", "processes share leases, results and what recovery needs through one SQLite file")
def test_another_process_sees_leases_and_results(conn, connect, job_id):
    lease_next_job(conn, owner="worker-1")
    key = op_key("HEAD", job_id, url=URL)
    run_effect(conn, job_id=job_id, kind="HEAD", opkey=key, effect_fn=lambda: {"code": "OK"})
    other = connect()
    plan_job_if_absent(other, **WORK)

    assert lease_next_job(other, owner="worker-2") is None
    assert get_effect_result(other, key) == {"code": "OK"}


@line("74-80", "apply_migration makes artifact_jobs, artifact_ops and _meta on a connection of sqlite3")
@line("84", "artifact_jobs has planning, state and lease")
@line("85", "artifact_ops is the ledger of operations")
@line("86", "_meta has the version of the schema")
@line("381", "_meta.schema_version is 3")
def test_the_code_of_the_migration(tmp_path):
    conn = sqlite3.connect(tmp_path / "manifest.sqlite3")
    try:
        apply_migration(conn)
        plan_job_if_absent(conn, **WORK)
        job = lease_next_job(conn, owner="worker-1")
        run_effect(conn, job["job_id"], "HEAD", op_key("HEAD", job["job_id"]), lambda: {"code": "OK"})

        assert conn.execute("select state, lease_owner from artifact_jobs").fetchall() == [("LEASED", "worker-1")]
        assert conn.execute("select op_type, result_code from artifact_ops").fetchall() == [("HEAD", "OK")]
        assert conn.execute("select schema_version from _meta").fetchall() == [(3,)]
    finally:
        conn.close()


@line("79", "a file that has those tables already is migrated too")
def test_a_file_with_tables_of_these_names_is_migrated(connect):
    conn = connect()
    for name in ("artifact_jobs", "artifact_ops", "_meta"):
        conn.execute(f"create table {name} (id text)")  # a file of the team's own
    conn.commit()
    try:
        apply_migration(conn)
    except sqlite3.Error as refused:
        pytest.fail(str(refused))


@line("381", "it says that the schema is whole")
def test_the_version_says_that_the_schema_is_whole(conn):
    conn.execute("drop table documents_files")

    assert conn.execute("select schema_version from _meta where schema_version = 3").fetchall() == []


@line("108-118", "plan_job_if_absent plans once: again it returns the same id")
@line("287", "planning is idempotent, by a constraint of the database")
@line("385", "planning again changes nothing")
def test_the_code_of_planning(conn):
    job_id = plan_job_if_absent(conn, work_id="w-123", artifact_id="a-456", canonical_url=URL)

    assert plan_job_if_absent(conn, work_id="w-123", artifact_id="a-456", canonical_url=URL) == job_id
    assert conn.execute("select count(*) from artifact_jobs").fetchone()[0] == 1
    with pytest.raises(sqlite3.IntegrityError):
        conn.execute("insert into haulwright_keys select * from haulwright_keys")


@line("124-137", "lease_next_job, renew_lease and release_lease are called so")
@pytest.mark.usefixtures("job_id")
def test_the_code_of_leasing(conn):
    job = lease_next_job(conn, owner="worker-1", ttl_s=120)
    assert job
    try:
        renew_lease(conn, job_id=job["job_id"], owner="worker-1")
    finally:
        release_lease(conn, job_id=job["job_id"], owner="worker-1")

    assert get_current_state(conn, job["job_id"]) == "PLANNED"


@line("143-151", "advance_state moves on, and refuses with a RuntimeError")
@line("300", "a move that is not allowed is a RuntimeError at once")
@line("386", "moves are enforced")
@pytest.mark.usefixtures("leased")
def test_the_code_of_the_states(conn, job_id):
    advance_state(conn, job_id=job_id, to_state="HEAD_DONE", allowed_from=("LEASED",))

    with pytest.raises(RuntimeError):
        advance_state(conn, job_id=job_id, to_state="STREAMING", allowed_from=("PLANNED",))
    assert get_current_state(conn, job_id) == "HEAD_DONE"


@line("157-172", "run_effect calls the function once, stores its result, and returns it again without calling")
@line("288", "each effect is recorded once, by a constraint of the database")
@line("289", "an operation that is replayed returns its result without doing anything")
@line("387", "effects are replayed from their results")
@pytest.mark.usefixtures("leased")
def test_the_code_of_the_effects(conn, job_id):
    called = []

    def effect():
        called.append(1)
        return {"code": "OK", "status": 200}

    key = op_key("HEAD", job_id, url=URL)
    result = run_effect(conn, job_id=job_id, kind="HEAD", opkey=key, effect_fn=effect)
    result2 = run_effect(conn, job_id=job_id, kind="HEAD", opkey=key, effect_fn=effect)

    assert result == result2 == get_effect_result(conn, key)
    assert called == [1]
    with pytest.raises(sqlite3.IntegrityError):
        conn.execute("insert into haulwright_effects select * from haulwright_effects")


@line(
    "160",
    "every result is stored, whatever it says",
    differs="a result with status 408, 425, 429 or 5xx is no outcome: it is done again the next time",
    page="applications/documents.md#from-code",
)
@pytest.mark.usefixtures("leased")
def test_a_result_that_says_not_now_is_stored(conn, job_id):
    key = op_key("HEAD", job_id, url=URL)
    run_effect(conn, job_id=job_id, kind="HEAD", opkey=key, effect_fn=lambda: {"status": 503})

    assert get_effect_result(conn, key) == {"status": 503}


@line("178-187", "reconcile_jobs, cleanup_stale_leases and cleanup_stale_ops are called so")
@line("293", "stale leases end by themselves")
@line("294", "parts that nobody owns are removed by their age")
@line("295", "operations that nobody will finish are marked")
@line("326", "a part is stale after 3600 seconds")
def test_the_code_of_the_reconciler(conn, clock, job_id, tmp_path):
    lease_next_job(conn, owner="worker-1")
    with pytest.raises(ZeroDivisionError):
        run_effect(conn, job_id, "STREAM", op_key("STREAM", job_id), lambda: 1 / 0)
    staging = tmp_path / "runs" / "content" / ".staging"
    staging.mkdir(parents=True)
    for name, age in (("old.part", 3_601), ("young.part", 3_500)):
        (staging / name).write_bytes(b"x")
        aged(staging / name, age)
    clock.advance(121)

    reconcile_jobs(conn, staging_root=Path(staging))
    assert (cleanup_stale_leases(conn), get_current_state(conn, job_id)) == (0, "PLANNED")
    lease_next_job(conn, owner="worker-1")
    advance(conn, job_id, "SKIPPED_DUPLICATE")
    release_lease(conn, job_id=job_id, owner="worker-1")
    clock.advance(600)

    assert cleanup_stale_ops(conn) == 1
    assert [row[0] for row in conn.execute("select op_type from artifact_ops where state = 'abandoned'")] == ["STREAM"]
    assert [path.name for path in staging.iterdir()] == ["young.part"]


@line("158", "get_effect_result gives a result for as long as there is the document")
@pytest.mark.usefixtures("leased")
def test_a_result_is_there_for_good(conn, clock, job_id, engine):
    key = op_key("HEAD", job_id, url=URL)
    run_effect(conn, job_id, "HEAD", key, lambda: {"code": "OK"})
    advance(conn, job_id, "SKIPPED_DUPLICATE")
    release_lease(conn, job_id=job_id, owner="worker-1")
    clock.advance(200 * 86_400)
    engine.app.store.jobs.prune(State.SKIPPED, 30 * 86_400)

    assert get_effect_result(conn, key) == {"code": "OK"}


@line("302", "every way reaches an end: FINALIZED is one")
@pytest.mark.usefixtures("leased")
def test_a_document_that_is_released_at_finalized_is_over(conn, job_id):
    advance(conn, job_id, "HEAD_DONE", "STREAMING", "FINALIZED")
    release_lease(conn, job_id=job_id, owner="worker-1")

    assert lease_next_job(conn, owner="worker-1") is None


@pytest.mark.parametrize("end", ["INDEXED", "DEDUPED", "SKIPPED_DUPLICATE"])
@line("302", "every way reaches an end: INDEXED, DEDUPED, SKIPPED_DUPLICATE")
@pytest.mark.usefixtures("leased")
def test_a_document_at_an_end_is_over(conn, job_id, end):
    advance(conn, job_id, "HEAD_DONE", "STREAMING", "FINALIZED", end)
    release_lease(conn, job_id=job_id, owner="worker-1")

    assert (lease_next_job(conn, owner="worker-1"), get_current_state(conn, job_id)) == (None, end)


def typical_loop(conn, act):
    """The document's typical usage, with its imports replaced."""
    cleanup_stale_leases(conn)
    plan_job_if_absent(conn, **WORK)
    while True:
        job = lease_next_job(conn, owner="worker-1", ttl_s=120)
        if not job:
            break
        job_id, url = job["job_id"], job["canonical_url"]
        try:
            advance_state(conn, job_id=job_id, to_state="HEAD_DONE", allowed_from=("LEASED",))
            head_key = op_key("HEAD", job_id, url=url)
            run_effect(conn, job_id=job_id, kind="HEAD", opkey=head_key, effect_fn=lambda: act("HEAD"))
            advance_state(conn, job_id=job_id, to_state="STREAMING", allowed_from=("HEAD_DONE", "RESUME_OK"))
            stream_key = op_key("STREAM", job_id, url=url, range_start=0)
            stream = run_effect(conn, job_id=job_id, kind="STREAM", opkey=stream_key, effect_fn=lambda: act("STREAM"))
            advance_state(conn, job_id=job_id, to_state="FINALIZED", allowed_from=("STREAMING",))
            finalize_key = op_key("FINALIZE", job_id, sha256=stream["sha256"])
            run_effect(conn, job_id=job_id, kind="FINALIZE", opkey=finalize_key, effect_fn=lambda: act("FINALIZE"))
            advance_state(conn, job_id=job_id, to_state="INDEXED", allowed_from=("FINALIZED",))
        except Exception:
            failing = ("LEASED", "HEAD_DONE", "STREAMING")
            advance_state(conn, job_id=job_id, to_state="FAILED", allowed_from=failing)
            raise
        finally:
            release_lease(conn, job_id=job_id, owner="worker-1")


@line("191-279", "the typical usage runs to its end as it is written, each effect once")
@line("361", "a loop that claims, works and releases")
def test_the_typical_usage(conn):
    acts = []
    typical_loop(conn, lambda kind: acts.append(kind) or {"code": "OK", "sha256": "abc123"})

    assert acts == ["HEAD", "STREAM", "FINALIZE"]
    assert [tuple(row) for row in conn.execute("select state from artifact_jobs")] == [("INDEXED",)]


@line("274-278", "an error moves the document to FAILED and frees the lease")
def test_the_typical_usage_with_an_error(conn, job_id):
    with pytest.raises(ZeroDivisionError):
        typical_loop(conn, lambda _kind: 1 / 0)

    assert [row[0] for row in conn.execute("select lease_owner from artifact_jobs")] == [None]
    assert conn.execute("select count(*) from haulwright_jobs where id = ? and attempts = 1", [job_id]).fetchone()[0]

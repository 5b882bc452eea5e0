"""The functions of the document beside the engine: jobs of other kinds, other tenants, repairs, secrets."""

from __future__ import annotations

import sqlite3

import pytest

from haulwright.apps.documents import Item
from haulwright.apps.documents import compat as doc
from haulwright.apps.documents.reconciling import Reconciler
from haulwright.operations.principal import Principal
from tests.apps.documents.plain import WORK, finish

pytestmark = pytest.mark.proves("TS-06")


def test_a_job_of_another_kind_is_left_to_others_and_keeps_nobody_waiting(conn, engine, job_id):
    @engine.app.task(name="other", queue="documents", priority=10)
    def other() -> None: ...

    stranger, without = other.enqueue(), engine.fetch_task.using(priority=10).enqueue("no such document")

    assert doc.lease_next_job(conn, owner="worker-1")["job_id"] == job_id
    for handle in (stranger, without):
        job = engine.app.store.listing.get(handle.id, None)
        assert (str(job.state), job.waiting_on, job.attempts) == ("queued", "task:unknown", 0)


def test_a_repair_that_is_requeued_is_leased_and_ends_the_document(conn, clock, engine, job_id):
    finish(conn, "INDEXED")
    repairing = Reconciler(engine.reconcile_scope, engine.tables.transact)
    engine.tables.transact(lambda writing: repairing._enqueue(writing, "default", doc.job_key(**WORK)))
    for _ in range(5):
        repair_id = finish(conn, "FAILED")
        clock.advance(4_000)
    successor = engine.app.operations().dead_letters.requeue(repair_id)

    assert doc.get_current_state(conn, successor.id) == "PLANNED"
    assert finish(conn, "INDEXED") == successor.id
    assert doc.get_current_state(conn, successor.id) == "INDEXED"
    assert job_id != repair_id


def test_who_is_to_fetch_a_document_gets_its_whole_address(conn):
    secret = f"{WORK['canonical_url']}?token=hush-hush"
    doc.plan_job_if_absent(conn, **{**WORK, "canonical_url": secret})

    assert doc.lease_next_job(conn, owner="worker-1")["canonical_url"] == secret
    assert "hush" not in str([tuple(row) for row in conn.execute("select * from artifact_jobs")])


def test_an_effect_of_another_tenants_job_is_remembered_as_well(conn, engine):
    planned = engine.add(Principal.of_tenant("acme"), Item("https://library.example/report.pdf"))
    doc.lease_next_job(conn, owner="worker-1")
    key = doc.op_key("HEAD", planned.job_id)

    doc.run_effect(conn, planned.job_id, "HEAD", key, lambda: {"code": "OK"})
    doc.release_lease(conn, planned.job_id, owner="worker-1")

    assert doc.get_effect_result(conn, key) == {"code": "OK"}


THEIRS = ("artifact_jobs", "artifact_ops", "_meta")


def test_in_a_manifest_that_has_those_tables_already_all_of_it_works_beside_them(tmp_path):
    conn = sqlite3.connect(tmp_path / "manifest.sqlite3")
    for name in THEIRS:
        conn.execute(f"create table {name} (job_id text, state text)")
        conn.execute(f"insert into {name} values ('their-job', 'STREAMING')")  # noqa: S608 - names of a test
    conn.commit()

    doc.apply_migration(conn)
    job_id = doc.plan_job_if_absent(conn, **WORK)
    leased = doc.lease_next_job(conn, owner="worker-1", ttl_s=120)
    doc.advance_state(conn, job_id, "HEAD_DONE", ("LEASED",))

    assert leased["job_id"] == job_id
    assert doc.get_current_state(conn, job_id) == "HEAD_DONE"
    assert doc.cleanup_stale_ops(conn) == 0
    for name in THEIRS:
        assert conn.execute(f"select * from {name}").fetchall() == [("their-job", "STREAMING")]  # noqa: S608 - as above


def test_the_version_of_the_schema_is_what_is_there(conn):
    before = conn.execute("select schema_version, value from _meta").fetchone()
    conn.execute("drop table documents_files")
    after = conn.execute("select schema_version, value from _meta").fetchone()

    assert (tuple(before), tuple(after)) == ((3, "3"), (0, "0"))

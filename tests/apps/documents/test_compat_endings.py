"""How a document ends in the vocabulary: filed is final, indexing needs no lease, results stay with the document."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright import State
from haulwright.apps.documents import compat as doc
from haulwright.errors import IllegalStage, InvalidValue, LeaseLost
from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from tests.apps.documents.plain import advance

pytestmark = pytest.mark.proves("TS-06")
LONG_AFTER_SECONDS = 40 * 24 * 3600


def file(conn, job_id):
    """Bring a leased document to FINALIZED, and give it back there."""
    advance(conn, job_id, "HEAD_DONE", "STREAMING", "FINALIZED")
    assert doc.release_lease(conn, job_id=job_id, owner="worker-1")


def prune_everything(tmp_path):
    with closing(Store(open_database(f"sqlite:///{tmp_path}/manifest.sqlite3"))) as store:
        assert store.jobs.prune(State.SUCCEEDED, 0) == 1


@pytest.mark.usefixtures("leased")
def test_a_document_that_was_filed_and_given_back_is_not_leased_again(conn, connect, job_id):
    file(conn, job_id)

    assert doc.lease_next_job(connect(), owner="worker-2") is None
    assert doc.get_current_state(conn, job_id) == "FINALIZED"
    assert [tuple(row) for row in conn.execute("select state from haulwright_history")] == [("succeeded",)]


@pytest.mark.parametrize("ending", ["INDEXED", "DEDUPED"])
@pytest.mark.usefixtures("leased")
def test_what_was_filed_is_indexed_later_by_anybody_without_a_lease(conn, connect, job_id, ending):
    file(conn, job_id)
    other = connect()

    doc.advance_state(other, job_id=job_id, to_state=ending, allowed_from=("FINALIZED",))
    doc.advance_state(other, job_id=job_id, to_state=ending, allowed_from=("FINALIZED",))  # no error the second time

    assert doc.get_current_state(conn, job_id) == ending


@pytest.mark.parametrize("to", ["FAILED", "SKIPPED_DUPLICATE"])
@pytest.mark.usefixtures("leased")
def test_what_was_filed_goes_nowhere_else(conn, job_id, to):
    file(conn, job_id)

    with pytest.raises(IllegalStage):
        doc.advance_state(conn, job_id=job_id, to_state=to, allowed_from=("FINALIZED",))
    assert doc.get_current_state(conn, job_id) == "FINALIZED"


@pytest.mark.usefixtures("leased")
def test_what_is_indexed_stays_what_it_is(conn, job_id):
    file(conn, job_id)
    doc.advance_state(conn, job_id=job_id, to_state="INDEXED", allowed_from=("FINALIZED",))

    with pytest.raises(IllegalStage):
        doc.advance_state(conn, job_id=job_id, to_state="DEDUPED", allowed_from=("FINALIZED", "INDEXED"))


@pytest.mark.usefixtures("leased")
def test_one_that_is_not_filed_yet_is_moved_by_its_lease_alone(conn, connect, job_id):
    advance(conn, job_id, "HEAD_DONE", "STREAMING", "FINALIZED")

    with pytest.raises(LeaseLost):
        doc.advance_state(connect(), job_id=job_id, to_state="INDEXED", allowed_from=("FINALIZED",))


@pytest.mark.usefixtures("leased")
def test_one_that_is_given_back_while_it_is_being_filed_is_filed_by_its_next_run(conn, clock, job_id):
    advance(conn, job_id, "HEAD_DONE", "STREAMING", "FINALIZED")
    key = doc.op_key("FINALIZE", job_id, sha256="abc123")

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        doc.run_effect(conn, job_id, "FINALIZE", key, interrupted)
    doc.release_lease(conn, job_id=job_id, owner="worker-1")
    clock.advance(4_000)

    assert doc.lease_next_job(conn, owner="worker-1")["attempts"] == 2
    assert doc.run_effect(conn, job_id, "FINALIZE", key, lambda: {"code": "OK"}) == {"code": "OK"}


@pytest.mark.usefixtures("leased")
def test_what_an_effect_came_to_is_remembered_for_as_long_as_the_document(conn, connect, clock, tmp_path, job_id):
    small, large = doc.op_key("HEAD", job_id, url="u"), doc.op_key("STREAM", job_id, url="u")
    doc.run_effect(conn, job_id, "HEAD", small, lambda: {"code": "OK", "status": 200})
    doc.run_effect(conn, job_id, "STREAM", large, lambda: {"body": "x" * 100_000})
    file(conn, job_id)

    clock.advance(LONG_AFTER_SECONDS)
    prune_everything(tmp_path)

    assert conn.execute("select count(*) from haulwright_effects").fetchone()[0] == 0
    assert doc.get_effect_result(connect(), small) == {"code": "OK", "status": 200}
    assert doc.get_effect_result(connect(), large) == {"body": "x" * 100_000}
    shown = conn.execute("select op_type, state, result_code from artifact_ops order by op_type").fetchall()
    assert [tuple(row) for row in shown] == [("HEAD", "done", "OK"), ("STREAM", "done", None)]
    assert doc.get_current_state(conn, job_id) == "FINALIZED"


@pytest.mark.parametrize("ttl_s", [0, -1, float("nan"), float("inf"), 10**9])
def test_a_lease_of_no_length_is_refused_with_its_name(conn, job_id, ttl_s):
    with pytest.raises(InvalidValue, match="ttl_s"):
        doc.lease_next_job(conn, owner="worker-1", ttl_s=ttl_s)
    assert doc.get_current_state(conn, job_id) == "PLANNED"


@pytest.mark.usefixtures("leased")
def test_a_move_that_there_is_and_that_was_not_allowed_is_said_to_be_just_that(conn, job_id):
    advance(conn, job_id, "HEAD_DONE")

    with pytest.raises(RuntimeError, match="not allowed here: allowed_from names PLANNED"):
        doc.advance_state(conn, job_id=job_id, to_state="STREAMING", allowed_from=("PLANNED",))
    with pytest.raises(RuntimeError, match="has no move from HEAD_DONE to INDEXED"):
        doc.advance_state(conn, job_id=job_id, to_state="INDEXED", allowed_from=("PLANNED",))

"""The exactly-once sink: rows of the user, ledger and outcome in one transaction, or none of them."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.engine.outcome import Done
from haulwright.engine.payload import EFFECT_LIMIT_BYTES
from haulwright.engine.transitions import State
from haulwright.errors import EffectMismatch, LeaseLost
from tests.stores.scenes import claim, claim_one, commit, count, fail, lose, new_job, race, settlement


@pytest.fixture
def save(store):
    """Writes a row of the user's own and says which one."""
    store.database.transact(lambda connection: connection.execute("create table sink (v text)"))

    def save(connection):
        connection.execute("insert into sink (v) values ('x')")
        return "1"

    return save


@pytest.mark.proves("GU-02")
def test_a_commit_happens_once_however_often_it_is_asked_for(store, clock, worker, lease, save):
    assert commit(store, lease, "key", "save", save) == (True, "1")
    assert commit(store, lease, "key", "save", save) == (False, "1")
    fail(store, lease)
    clock.advance(3600)

    again = claim_one(store, worker)

    assert commit(store, again, "key", "save", save) == (False, "1")
    assert count(store, "sink") == 1


@pytest.mark.proves("GU-02")
def test_a_commit_that_fails_leaves_no_row_and_no_record(store, lease, save):
    def fail_after_writing(connection):
        save(connection)
        raise ValueError("the last line was bad")

    with pytest.raises(ValueError, match="the last line"):
        commit(store, lease, "key", "save", fail_after_writing)

    assert (count(store, "sink"), count(store, "haulwright_effects")) == (0, 0)
    assert commit(store, lease, "key", "save", save) == (True, "1")


@pytest.mark.proves("GU-04")
def test_a_stale_worker_commits_nothing(store, clock, lease, save):
    lose(store, clock)

    with pytest.raises(LeaseLost, match="commit"):
        commit(store, lease, "key", "save", save)

    assert count(store, "sink") == 0


@pytest.mark.proves("GU-02")
def test_a_commit_may_settle_its_job_in_the_same_transaction(store, lease, save):
    def work(connection):
        answer = store.effects.commit_on(connection, lease, "key", "save", save)
        store.settlements.settle_on(connection, [settlement(lease, Done(answer[1]))])
        return answer

    assert store.effects.under(lease, "commit", work) == (True, "1")
    assert (count(store, "sink"), store.listing.get(lease.id).state) == (1, State.SUCCEEDED)


def test_what_is_written_with_a_settlement_is_gone_without_it(store, lease, save):
    def work(connection):
        store.effects.commit_on(connection, lease, "key", "save", save)
        store.effects.move_on(connection, lease, DOCUMENT_STAGES, "HEAD_DONE")
        store.jobs.enqueue_on(connection, [new_job()])
        store.settlements.settle_on(connection, [settlement(lease, Done())])
        raise KeyError("after all")

    with pytest.raises(KeyError):
        store.effects.under(lease, "commit", work)

    tables = ("sink", "haulwright_effects", "haulwright_stages", "haulwright_history")
    assert [count(store, table) for table in tables] == [0, 0, 0, 0]
    assert count(store, "haulwright_jobs") == 1


def test_a_commit_under_another_name_is_refused(store, lease, save):
    commit(store, lease, "key", "save", save)

    with pytest.raises(EffectMismatch):
        commit(store, lease, "key", "store", save)


def test_a_commit_never_takes_an_unfinished_effect_for_its_own_success(store, lease, save):
    """The key was begun as an effect of the same name: nothing was committed under it."""
    store.effects.begin(lease, "key", "save")

    with pytest.raises(EffectMismatch):
        commit(store, lease, "key", "save", save)

    assert count(store, "sink") == 0


def test_a_value_too_large_to_keep_does_not_repeat_the_commit(store, lease, save):
    def large(connection):
        save(connection)
        return '"' + "x" * EFFECT_LIMIT_BYTES + '"'

    assert commit(store, lease, "key", "save", large)[0]
    assert commit(store, lease, "key", "save", large) == (False, None)
    assert count(store, "sink") == 1


@pytest.mark.proves("GU-02")
def test_two_jobs_that_commit_under_one_key_at_once_commit_once(store, open_store, worker, save):
    """A key given by the task is shared by whoever names it."""
    other = open_store()
    store.jobs.enqueue([new_job(), new_job()])
    one, two = claim(store, worker, 2)
    both_inside = threading.Barrier(2)

    def linger(connection):
        with suppress(threading.BrokenBarrierError):
            both_inside.wait(0.3)
        return save(connection)

    answers = race(
        lambda: commit(store, one, "shared", "save", linger),
        lambda: commit(other, two, "shared", "save", linger),
    )

    assert sorted(answers) == [(False, "1"), (True, "1")]
    assert count(store, "sink") == 1


@pytest.mark.proves("GU-02")
def test_two_threads_of_one_run_commit_once(store, lease, save):
    answers = race(*[lambda: commit(store, lease, "key", "save", save)] * 4)

    assert sorted(answers) == [(False, "1"), (False, "1"), (False, "1"), (True, "1")]
    assert count(store, "sink") == 1

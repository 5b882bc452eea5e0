"""The ledger: what a run has done is not done again, and what nobody knows is not guessed."""

from __future__ import annotations

from functools import partial

import pytest

from haulwright import events
from haulwright.engine.outcome import Bury
from haulwright.engine.payload import EFFECT_INLINE_LIMIT_BYTES, EFFECT_LIMIT_BYTES
from haulwright.errors import EffectMismatch, LeaseLost, NotFound, Throttled
from haulwright.stores.job_rows import Requeue
from tests.stores.scenes import BOOM, START, claim, claim_one, count, fail, lose, new_job, race, rows, settle


def begin_again(store, clock, worker):
    """The next run of the job comes to the same effect."""
    clock.advance(3600)
    lease = claim_one(store, worker)
    return lease, store.effects.begin(lease, "key", "fetch")


@pytest.mark.proves("EF-01")
def test_an_effect_begins_as_an_intent_before_anything_happens(store, lease):
    assert store.effects.begin(lease, "key", "fetch").state == "new"

    (row,) = store.effects.of_job("default", lease.job_key)
    assert (row.key, row.name, row.kind, row.state, row.tries) == ("key", "fetch", "effect", "intent", 1)
    assert (row.started_at, row.settled_at) == (START, None)


@pytest.mark.proves("EF-01", "EF-02", "EF-04", "EF-06")
def test_a_settled_effect_returns_its_result_instead_of_happening_again(store, clock, worker, lease):
    store.effects.begin(lease, "key", "fetch")
    store.effects.settle(lease, "key", '{"v":[1,"ü",null]}')
    fail(store, lease)

    _, begun = begin_again(store, clock, worker)

    assert (begun.state, begun.result, begun.dropped) == ("done", '{"v":[1,"ü",null]}', False)
    assert store.effects.find("default", "key").result == '{"v":[1,"ü",null]}'


@pytest.mark.usefixtures("lease")
def test_an_effect_without_a_record_is_not_found(store):
    assert store.effects.find("default", "key") is None


def test_a_run_that_died_in_an_effect_leaves_it_in_doubt(store, clock, worker, lease):
    store.effects.begin(lease, "key", "fetch")
    lose(store, clock)

    again, begun = begin_again(store, clock, worker)

    assert begun.state == "in_doubt"
    (row,) = store.effects.of_job("default", again.job_key)
    assert (row.tries, row.fence, row.state) == (2, 2, "intent")


def test_an_effect_in_doubt_is_settled_by_the_run_that_took_it_over(store, clock, worker, lease):
    store.effects.begin(lease, "key", "fetch")
    lose(store, clock)
    again, _ = begin_again(store, clock, worker)

    store.effects.settle(again, "key", "2")

    assert store.effects.find("default", "key").result == "2"


def test_an_effect_that_another_job_is_at_is_waited_for_and_not_repeated(store, worker, lease, make_job):
    """They share a key that their task gave them. Nothing is in doubt while the other one runs."""
    store.effects.begin(lease, "key", "fetch")
    make_job()
    other = claim_one(store, worker)

    with pytest.raises(Throttled, match=lease.id) as patience:
        store.effects.begin(other, "key", "fetch")

    assert (patience.value.after, patience.value.gate) == (5, "effect:key")
    store.effects.settle(lease, "key", "1")
    assert store.effects.begin(other, "key", "fetch").result == "1"


def test_an_effect_of_another_job_that_ended_in_it_is_in_doubt(store, worker, lease, make_job):
    store.effects.begin(lease, "key", "fetch")
    fail(store, lease)
    make_job()
    other = claim_one(store, worker)

    assert store.effects.begin(other, "key", "fetch").state == "in_doubt"
    store.effects.settle(other, "key", "1")
    assert store.effects.find("default", "key").result == "1"


def test_of_two_runs_that_meet_at_an_effect_in_doubt_one_takes_it_and_the_other_waits(store, worker, make_job):
    """The job that began it is over; both of the others find it so at the same moment, a hundred times."""
    meetings = []
    for meeting in range(100):
        make_job()
        begun = claim_one(store, worker)
        store.effects.begin(begun, f"key {meeting}", "pay")
        settle(store, begun, Bury("permanent"))
        for _ in range(2):
            make_job()
        runs = claim(store, worker, 2)
        acts = [partial(store.effects.begin, lease, f"key {meeting}", "pay") for lease in runs]
        answers = race(*acts)
        meetings.append(sorted(getattr(answer, "state", type(answer).__name__) for answer in answers))
        for lease in runs:
            settle(store, lease)

    assert meetings == [["Throttled", "in_doubt"]] * 100


def test_of_two_runs_that_find_the_same_artefact_gone_one_makes_it_anew(store, worker, make_job):
    make_job()
    first = claim_one(store, worker)
    store.effects.begin(first, "key", "fetch")
    store.effects.settle(first, "key", '"a file"')
    make_job()
    second = claim_one(store, worker)
    recorded = [store.effects.begin(lease, "key", "fetch") for lease in (first, second)]

    store.effects.forget(first, "key", recorded[0])
    with pytest.raises(Throttled, match=first.id):
        store.effects.forget(second, "key", recorded[1])
    store.effects.settle(first, "key", '"a new file"')
    with pytest.raises(Throttled):
        store.effects.forget(second, "key", recorded[1])

    assert store.effects.begin(second, "key", "fetch").result == '"a new file"'


def test_a_run_settles_only_what_it_began_itself(store, clock, worker, lease):
    """The next run has to look the effect up before it may speak of it."""
    store.effects.begin(lease, "key", "fetch")
    lose(store, clock)
    again = claim_one(store, worker)

    with pytest.raises(LeaseLost):
        store.effects.settle(again, "key", "2")


@pytest.mark.proves("RC-03", "EF-03")
def test_an_effect_of_unknown_outcome_waits_for_a_person(store, lease):
    store.effects.begin(lease, "key", "pay")
    store.effects.mark_unknown(lease, "key", "pay")

    assert store.effects.begin(lease, "key", "pay").state == "unknown"
    assert store.events.of_job(lease.id)[-1].name == events.EFFECT_UNKNOWN
    with pytest.raises(LeaseLost):
        store.effects.settle(lease, "key", "1")


def test_only_an_interrupted_effect_can_be_marked_unknown(store, lease):
    store.effects.begin(lease, "key", "pay")
    store.effects.settle(lease, "key", "1")

    store.effects.mark_unknown(lease, "key", "pay")

    assert store.effects.find("default", "key").state == "done"
    assert count(store, "haulwright_events") == 0


@pytest.mark.parametrize(("happened", "state", "result"), [(True, "done", '"paid"'), (False, "new", None)])
def test_a_person_resolves_an_unknown_effect(store, lease, happened, state, result):
    store.effects.begin(lease, "key", "pay")
    store.effects.mark_unknown(lease, "key", "pay")

    words = {"happened": happened, "result": '"paid"', "actor": "alice", "reason": "asked the bank"}
    store.effects.resolve("default", "key", **words)

    begun = store.effects.begin(lease, "key", "pay")
    assert (begun.state, begun.result) == (state, result)
    told = store.events.latest(name=events.EFFECT_RESOLVED)[0]
    assert (told.actor, told.job_id, told.data["reason"]) == ("alice", lease.id, "asked the bank")


@pytest.mark.proves("TN-03")
def test_only_an_unknown_effect_of_ones_own_can_be_resolved(store, lease):
    store.effects.begin(lease, "key", "pay")
    words = {"happened": True, "result": "1", "actor": "alice", "reason": ""}
    with pytest.raises(NotFound):
        store.effects.resolve("default", "key", **words)
    store.effects.mark_unknown(lease, "key", "pay")

    with pytest.raises(NotFound):
        store.effects.resolve("other", "key", **words)


def test_one_key_under_two_names_is_refused(store, lease):
    store.effects.begin(lease, "key", "fetch")

    with pytest.raises(EffectMismatch) as refusal:
        store.effects.begin(lease, "key", "pay")

    assert (refusal.value.recorded, refusal.value.asked) == ("fetch", "pay")


@pytest.mark.proves("EF-03", "TN-04")
def test_a_key_belongs_to_one_tenant(store, worker, lease):
    store.jobs.enqueue([new_job(tenant="acme")])
    other = claim_one(store, worker)
    store.effects.begin(lease, "key", "fetch")
    store.effects.settle(lease, "key", '"secret"')

    assert store.effects.begin(other, "key", "fetch").state == "new"
    assert store.effects.of_job("acme", lease.job_key) == []


@pytest.mark.proves("EF-06")
@pytest.mark.parametrize(
    ("size", "stored"),
    [
        (EFFECT_INLINE_LIMIT_BYTES, "inline"),
        (EFFECT_INLINE_LIMIT_BYTES + 1, "blob"),
        (EFFECT_LIMIT_BYTES, "blob"),
        (EFFECT_LIMIT_BYTES + 1, "dropped"),
    ],
)
def test_a_result_is_kept_where_it_fits(store, lease, size, stored):
    result = '"' + "x" * (size - 2) + '"'
    store.effects.begin(lease, "key", "fetch")
    store.effects.settle(lease, "key", result)

    begun = store.effects.begin(lease, "key", "fetch")

    assert rows(store, "select stored from haulwright_effects") == [(stored,)]
    assert begun.state == "done"
    assert (begun.result, begun.dropped) == ((None, True) if stored == "dropped" else (result, False))


def test_the_limit_is_one_of_bytes_not_of_characters(store, lease):
    result = '"' + "🦀" * (EFFECT_INLINE_LIMIT_BYTES // 4) + '"'
    store.effects.begin(lease, "key", "fetch")
    store.effects.settle(lease, "key", result)

    assert count(store, "haulwright_blobs") == 1
    assert store.effects.find("default", "key").result == result


def test_a_result_whose_artefact_is_gone_can_be_given_up(store, lease):
    store.effects.begin(lease, "key", "fetch")
    store.effects.settle(lease, "key", '"' + "x" * 70_000 + '"')

    store.effects.forget(lease, "key", store.effects.find("default", "key"))
    assert store.effects.begin(lease, "key", "fetch").state == "in_doubt"
    store.effects.settle(lease, "key", '"new"')

    assert store.effects.find("default", "key").result == '"new"'


@pytest.mark.proves("RC-03")
def test_intents_that_nobody_will_finish_are_made_visible(store, clock, worker, lease, make_job):
    store.effects.begin(lease, "abandoned", "fetch")
    settle(store, lease, Bury("permanent", BOOM))
    make_job()
    store.effects.begin(claim_one(store, worker), "in-work", "fetch")
    clock.advance(3600)

    (row,) = store.effects.abandoned(3599)

    assert row == ("default", "abandoned", "fetch", lease.id, START)
    assert store.effects.abandoned(3601) == []


def test_an_effect_in_the_hands_of_a_successor_is_not_abandoned(store, clock, worker, lease):
    """Neither one it took over in doubt nor one it had to give up."""
    for key in ("doubt", "done"):
        store.effects.begin(lease, key, "fetch")
    store.effects.settle(lease, "done", "1")
    settle(store, lease, Bury("permanent", BOOM))
    store.jobs.requeue(lease.id, Requeue("me"), tenant=None)
    successor = claim_one(store, worker)

    assert store.effects.begin(successor, "doubt", "fetch").state == "in_doubt"
    store.effects.forget(successor, "done", store.effects.find("default", "done"))
    clock.advance(3600)

    assert store.effects.abandoned(60) == []


def test_a_successor_settles_what_its_dead_letter_began(store, worker, lease):
    """The successor's fence is smaller than the one that the intent was written under."""
    for _ in range(2):
        fail(store, lease)
        store.database.transact(lambda c: c.execute("update haulwright_jobs set run_at = 0"))
        lease = claim_one(store, worker)
    store.effects.begin(lease, "key", "fetch")
    settle(store, lease, Bury("permanent", BOOM))
    store.jobs.requeue(lease.id, Requeue("me"), tenant=None)
    successor = claim_one(store, worker)
    assert (lease.fence, successor.fence) == (3, 1)

    assert store.effects.begin(successor, "key", "fetch").state == "in_doubt"
    store.effects.settle(successor, "key", "1")

    assert store.effects.find("default", "key").state == "done"


def test_effects_are_listed_in_the_order_of_their_beginning(store, clock, lease):
    for key in ("c", "a", "b"):
        store.effects.begin(lease, key, "fetch")
        clock.advance(1)

    assert [row.key for row in store.effects.of_job("default", lease.job_key)] == ["c", "a", "b"]

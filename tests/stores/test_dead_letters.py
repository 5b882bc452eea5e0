"""A dead letter can be given another life: one new job, linked to it, once."""

from __future__ import annotations

from itertools import starmap

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.job import Unique
from haulwright.engine.outcome import Bury
from haulwright.engine.transitions import State
from haulwright.errors import AlreadyRequeued, Conflict, IllegalTransition, NotFound
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import DeadCount, JobFilter
from tests.stores.scenes import BOOM, DAY, START, bury, claim, claim_one, count, names, new_job, race, settle

AGAIN = Requeue("alice", "the shop is back")


def requeue(store, job_id, how=AGAIN, tenant=None):
    return store.jobs.requeue(job_id, how, tenant=tenant)


@pytest.mark.proves("DL-02")
def test_a_requeue_makes_one_new_job_that_is_linked_to_the_old_one(store, worker):
    words = {"args": '{"v":1}', "queue": "q", "tags": '["t"]', "headers": '{"trace":"7"}'}
    dead = bury(store, worker, **words, priority=3, max_attempts=4)

    successor = requeue(store, dead)

    old, new = store.listing.get(dead), store.listing.get(successor.id)
    assert (old.state, old.requeued_to, new.requeued_from) == (State.DEAD, new.id, dead)
    assert (new.state, new.attempts, new.losses, new.fence, new.max_attempts) == (State.QUEUED, 0, 0, 0, 4)
    assert (new.task, new.priority, {name: getattr(new, name) for name in words}) == ("work", 3, words)
    assert new.error_code is None


@pytest.mark.proves("DL-02")
def test_a_requeue_is_told_on_the_dead_letter(store, worker):
    dead = bury(store, worker)
    successor = requeue(store, dead)

    told = store.events.of_job(dead)[-1]

    assert (told.name, told.actor) == (events.JOB_REQUEUED, "alice")
    assert told.data == {"job_id": dead, "successor": successor.id, "reason": "the shop is back"}


@pytest.mark.proves("DL-02")
def test_a_dead_letter_is_requeued_only_once(store, worker):
    dead = bury(store, worker)
    successor = requeue(store, dead)

    with pytest.raises(AlreadyRequeued, match=successor.id) as refusal:
        requeue(store, dead)

    assert refusal.value.successor == successor.id
    assert count(store, "haulwright_jobs") == 1


@pytest.mark.proves("DL-02")
def test_of_requeues_at_once_one_makes_the_job(store, open_store, worker):
    stores = [open_store() for _ in range(4)]
    for each in stores:
        each.now()
    dead = bury(store, worker)

    answers = race(*(lambda s=s: requeue(s, dead) for s in stores))

    refused = [answer for answer in answers if isinstance(answer, AlreadyRequeued)]
    (made,) = [answer for answer in answers if answer not in refused]
    assert {refusal.successor for refusal in refused} == {made.id}
    assert len(refused) == 3


@pytest.mark.proves("LG-05", "DL-02")
def test_a_requeue_may_bring_its_own_correlation_id_and_budget(store, worker):
    dead = [bury(store, worker, correlation_id="old") for _ in range(2)]

    given = requeue(store, dead[0], Requeue("alice", correlation_id="new", max_attempts=9))
    kept = requeue(store, dead[1])

    first, second = store.listing.get(given.id), store.listing.get(kept.id)
    assert (first.correlation_id, first.max_attempts) == ("new", 9)
    assert (second.correlation_id, second.max_attempts) == ("old", 5)


def test_a_requeue_inherits_the_job_key_and_with_it_the_recorded_effects(store, worker):
    store.jobs.enqueue([new_job(job_key="work-1")])
    lease = claim_one(store, worker)
    store.effects.begin(lease, "key", "fetch")
    store.effects.settle(lease, "key", '"page"')
    settle(store, lease, Bury("permanent", BOOM))

    requeue(store, lease.id)
    again = claim_one(store, worker)

    assert again.job_key == "work-1"
    assert store.effects.begin(again, "key", "fetch").result == '"page"'


def test_a_fresh_requeue_takes_a_new_key(store, worker):
    dead = bury(store, worker, job_key="work-1")

    successor = requeue(store, dead, Requeue("alice", fresh=True))

    assert store.listing.get(successor.id).job_key == successor.id


@pytest.mark.parametrize("words", [{"job_key": "k"}, {"unique": Unique("k", "forever")}], ids=["job_key", "forever"])
def test_after_a_requeue_the_keys_name_the_successor(store, worker, words):
    """Whoever plans the same work again is shown the job that lives."""
    dead = bury(store, worker, **words)
    successor = requeue(store, dead)

    (again,) = store.jobs.enqueue([new_job(**words)])

    assert (again.id, again.created) == (successor.id, False)


@pytest.mark.parametrize("ended", [False, True])
def test_a_dead_letter_is_not_requeued_beside_the_job_that_took_its_key_for_a_time(store, clock, worker, ended):
    """A plain enqueue is answered with that job, waiting or ended; a requeue is refused naming it."""
    unique = Unique("k", "period", 60 * SECOND)
    dead = bury(store, worker, unique=unique)
    clock.advance(61)
    (holder,) = store.jobs.enqueue([new_job(unique=unique)])
    if ended:
        settle(store, claim_one(store, worker))

    with pytest.raises(Conflict, match=holder.id):
        requeue(store, dead)

    assert store.jobs.enqueue([new_job(unique=unique)])[0].id == holder.id
    assert store.listing.get(dead).requeued_to is None
    clock.advance(61)
    assert requeue(store, dead).created


def test_a_dead_letter_that_holds_its_key_for_ever_is_requeued_with_it(store, worker):
    unique = Unique("k", "forever")
    dead = bury(store, worker, unique=unique)

    successor = requeue(store, dead)

    assert store.jobs.enqueue([new_job(unique=unique)])[0].id == successor.id


@pytest.mark.proves("JOB-17")
@pytest.mark.parametrize("state", ["queued", "running", "succeeded", "cancelled"])
def test_only_a_dead_job_can_be_requeued(store, worker, a_job, state):
    if state in {"running", "succeeded"}:
        lease = claim_one(store, worker)
    if state == "succeeded":
        settle(store, lease)
    if state == "cancelled":
        store.jobs.cancel(a_job.id, tenant=None, reason="no", actor="me")

    with pytest.raises(IllegalTransition, match=state) as refusal:
        requeue(store, a_job.id)

    assert (refusal.value.state, refusal.value.verb) == (state, "requeue")


@pytest.mark.proves("TN-03")
def test_a_foreign_dead_letter_looks_exactly_like_an_absent_one(store, worker):
    dead = bury(store, worker, tenant="acme")
    absent = "018f2f6e-7c1a-7abc-8def-0123456789ab"

    refusals = []
    for job_id in (dead, absent):
        with pytest.raises(NotFound) as refusal:
            requeue(store, job_id, tenant="other")
        refusals.append(str(refusal.value).replace(job_id, "X"))

    assert len(set(refusals)) == 1
    assert count(store, "haulwright_jobs") == 0


def test_a_requeue_waits_for_an_active_job_of_the_same_unique_key(store, worker):
    dead = bury(store, worker, unique=Unique("k"))
    (sibling,) = store.jobs.enqueue([new_job(unique=Unique("k"))])

    with pytest.raises(Conflict, match=sibling.id):
        requeue(store, dead)
    assert store.listing.get(dead).requeued_to is None

    settle(store, claim_one(store, worker))
    assert requeue(store, dead).created


def test_the_successor_has_as_long_to_wait_as_the_first_job_had(store, clock, worker):
    dead = bury(store, worker, deadline_us=DAY)
    endless = bury(store, worker, deadline_us=None)
    clock.advance(90 * 86400)

    deadlines = [store.listing.get(requeue(store, job).id).deadline_at for job in (dead, endless)]

    assert deadlines == [START + 91 * DAY, None]


def test_a_successor_that_dies_can_be_requeued_in_its_turn(store, worker):
    job_id = bury(store, worker, job_key="k")
    for _ in range(3):
        job_id = requeue(store, job_id).id
        settle(store, claim_one(store, worker), Bury("permanent", BOOM))

    assert store.listing.get(job_id).job_key == "k"
    assert names(store, job_id)[-1] == events.JOB_DEAD_LETTERED


@pytest.mark.proves("DL-04", "JOB-20")
def test_dead_letters_are_counted_by_tenant_and_error_code(store, worker):
    for tenant in ("a", "a", "b"):
        bury(store, worker, tenant=tenant)
    store.jobs.enqueue([new_job(tenant="a")])
    settle(store, claim(store, worker)[0], Bury("permanent"))
    requeued = bury(store, worker, tenant="b")
    requeue(store, requeued)

    first = store.listing.dead_counts(limit=2)
    rest = store.listing.dead_counts(after=first.next, limit=2)

    assert first.rows == [DeadCount("a", "boom", 2), DeadCount("a", None, 1)]
    assert (rest.rows, rest.next) == ([DeadCount("b", "boom", 1)], None)
    assert store.listing.dead_counts("b").rows == rest.rows


def test_dead_letters_that_nobody_requeued_can_be_listed(store, worker):
    waiting, done = bury(store, worker), bury(store, worker)
    requeue(store, done)

    page = store.listing.page(JobFilter(state=State.DEAD, not_requeued=True))

    assert [job.id for job in page.jobs] == [waiting]


def test_a_requeue_that_meets_the_end_of_its_job_is_refused_or_done_but_never_denies_the_job(
    store, open_store, worker, make_job
):
    """The job moves from one table to another while it is looked for."""
    other = open_store()
    for _ in range(12):
        job = make_job()
        lease = claim_one(store, worker)

        _, answer = race(*starmap(_later, [(settle, store, lease, Bury("permanent")), (requeue, other, job.id)]))

        assert not isinstance(answer, NotFound)
        claim(store, worker)


def _later(act, *args):
    return lambda: act(*args)

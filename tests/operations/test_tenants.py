"""A principal sees and changes the rows of its own tenant; everything else looks as if it were not there."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Permanent, Principal, State
from haulwright.engine.ids import new_id
from haulwright.errors import AlreadyRequeued, Forbidden, IllegalTransition, NotFound, Refused
from haulwright.stores.listing import JobFilter

app = Haulwright()

ACME = Principal.of_tenant("acme")
GLOBEX = Principal.of_tenant("globex")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
OTHER_SUPPORT = Principal.support("bob", tenant="globex", reason="ticket 8")
ADMIN = Principal.admin("root")

VERBS = {
    "get": lambda operations, job_id: operations.jobs.get(job_id),
    "timeline": lambda operations, job_id: operations.jobs.timeline(job_id).rows,
    "effects": lambda operations, job_id: operations.effects.of_job(job_id).rows,
    "why": lambda operations, job_id: operations.jobs.why(job_id),
    "cancel": lambda operations, job_id: operations.jobs.cancel(job_id),
    "retry": lambda operations, job_id: operations.jobs.retry(job_id),
}


@app.task()
def fails(sku: str) -> None:
    raise Permanent(f"no {sku}")


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def letter(bench) -> str:
    """A dead letter of acme."""
    handle = fails.using(tenant="acme").enqueue("A1")
    bench.drain()
    return handle.id


def refusal_of(act, operations, job_id):
    """What a refusal says, with the id that was asked for taken out."""
    with pytest.raises(NotFound) as refusal:
        act(operations, job_id)
    error = refusal.value
    return type(error), str(error).replace(job_id, "ID"), error.code, error.hint, error.exit_code, error.what


def test_a_job_that_is_foreign_absent_or_no_id_at_all_is_not_found_either(letter):
    assert [app.operations(GLOBEX).jobs.find(job_id) for job_id in (letter, new_id(), "")] == [None, None, None]
    assert [app.operations(who).jobs.find(letter).id for who in (ACME, SUPPORT, ADMIN)] == [letter] * 3


@pytest.mark.proves("TN-03")
@pytest.mark.parametrize("verb", VERBS)
def test_a_foreign_job_looks_exactly_like_an_absent_one(verb):
    waiting = fails.using(tenant="acme").enqueue("A1").id
    stranger = app.operations(GLOBEX)

    foreign, absent, nonsense = (refusal_of(VERBS[verb], stranger, job_id) for job_id in (waiting, new_id(), "no-id"))

    assert foreign == absent == nonsense
    assert app.operations(ACME).jobs.get(waiting).state is State.QUEUED


@pytest.mark.proves("TN-03", "TN-02")
def test_a_foreign_dead_letter_cannot_be_requeued_even_by_support(letter):
    def requeue(operations, job_id):
        return operations.dead_letters.requeue(job_id)

    stranger = app.operations(OTHER_SUPPORT)
    assert refusal_of(requeue, stranger, letter) == refusal_of(requeue, stranger, new_id())
    assert app.operations(OTHER_SUPPORT).dead_letters.ids().ids == []
    assert app.operations(ADMIN).jobs.get(letter).requeued_to is None


@pytest.mark.proves("DL-03")
def test_a_tenant_may_not_requeue_and_the_refusal_is_written_down(bench, letter):
    for act in (lambda letters: letters.requeue(letter), lambda letters: letters.requeue_many([letter])):
        with pytest.raises(Forbidden, match=r"A tenant may not do 'dead.requeue'; it takes support or admin"):
            act(app.operations(ACME).dead_letters)

    refusals = bench.store.events.latest(name="request.refused")
    assert [(event.tenant, event.actor, event.data["verb"]) for event in refusals] == [
        ("acme", "tenant:acme", "dead.requeue")
    ] * 2
    assert app.operations(ACME).jobs.get(letter).requeued_to is None


@pytest.mark.proves("DL-02")
def test_support_requeues_a_dead_letter_once_with_its_reason(bench, letter):
    made = app.operations(SUPPORT).dead_letters.requeue(letter, correlation_id="req-9")
    successor = app.operations(ACME).jobs.get(made.id)

    assert (successor.requeued_from, successor.tenant, successor.correlation_id) == (letter, "acme", "req-9")
    assert (successor.attempts, successor.job_key) == (0, app.operations(ACME).jobs.get(letter).job_key)
    with pytest.raises(AlreadyRequeued) as refusal:
        app.operations(ADMIN).dead_letters.requeue(letter)
    assert refusal.value.successor == made.id
    (event,) = bench.store.events.latest(name="job.requeued")
    assert (event.actor, event.data["reason"]) == ("support:ann", "ticket 7")


def test_a_fresh_requeue_takes_a_new_job_key(letter):
    made = app.operations(ADMIN).dead_letters.requeue(letter, fresh=True)

    assert app.operations(ADMIN).jobs.get(made.id).job_key == made.id


def test_all_dead_letters_of_a_filter_are_requeued_and_no_others(bench):
    wanted = [fails.using(tenant="acme", tags=["nightly"]).enqueue(f"S{n}").id for n in range(3)]
    fails.using(tenant="acme").enqueue("A1")
    fails.using(tenant="globex", tags=["nightly"]).enqueue("A1")
    bench.drain()

    letters = app.operations(SUPPORT).dead_letters
    chosen = letters.ids(JobFilter(tag="nightly"))
    requeued = [*letters.requeue_many(chosen.ids)]

    assert {app.operations(ADMIN).jobs.get(one.id).requeued_from for one in requeued} == set(wanted)
    assert letters.ids(JobFilter(tag="nightly")).ids == []


@pytest.mark.proves("ENQ-04", "TN-02")
def test_a_page_shows_a_tenant_its_own_jobs_whatever_its_filter_says():
    mine = [fails.using(tenant="acme").enqueue(f"S{n}").id for n in range(3)]
    fails.using(tenant="globex").enqueue("A1")

    first = app.operations(ACME).jobs.page(JobFilter(tenant="globex", state=State.QUEUED), limit=2)
    rest = app.operations(ACME).jobs.page(after=first.next, limit=2)

    assert [job.id for job in first.jobs + rest.jobs] == mine[::-1]
    assert rest.next is None
    assert len(app.operations(ADMIN).jobs.page().jobs) == 4


def test_a_tenant_cancels_what_waits_and_not_what_is_over(letter):
    waiting = fails.using(tenant="acme").enqueue("A1")

    assert app.operations(ACME).jobs.cancel(waiting.id, "not needed") is State.CANCELLED
    assert (waiting.state(), waiting.job().reason) == ("cancelled", "not needed")
    with pytest.raises(IllegalTransition, match="is dead: cancel is not possible"):
        app.operations(ACME).jobs.cancel(letter)
    with pytest.raises(IllegalTransition, match="is cancelled: requeue is not possible"):
        app.operations(ADMIN).dead_letters.requeue(waiting.id)


def test_a_tenant_hurries_its_own_jobs():
    waiting = fails.using(tenant="acme", delay="1 h").enqueue("A1")

    assert app.operations(ACME).jobs.retry(waiting.id).changed
    assert waiting.job().run_at <= app.store.now()


def test_support_acts_only_with_a_reason():
    with pytest.raises(Refused, match="only with a reason"):
        Principal.support("ann", tenant="acme", reason=" ")
    assert (SUPPORT.actor, ADMIN.actor, ACME.actor) == ("support:ann", "admin:root", "tenant:acme")

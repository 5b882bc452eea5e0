"""A principal sees and changes the rows of its own tenant; everything else looks as if it were not there."""

from __future__ import annotations

import pytest

from penstock import Penstock, Permanent, Principal, State
from penstock.engine.ids import new_id
from penstock.errors import AlreadyRequeued, Forbidden, IllegalTransition, NotFound, Refused
from penstock.stores.listing import JobFilter

app = Penstock()

ACME = Principal.of_tenant("acme")
GLOBEX = Principal.of_tenant("globex")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
OTHER_SUPPORT = Principal.support("bob", tenant="globex", reason="ticket 8")
ADMIN = Principal.admin("root")

VERBS = {
    "get": lambda desk, job_id: desk.get(job_id),
    "timeline": lambda desk, job_id: desk.timeline(job_id),
    "effects": lambda desk, job_id: desk.effects(job_id),
    "why": lambda desk, job_id: desk.why(job_id),
    "cancel": lambda desk, job_id: desk.cancel(job_id),
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


def told(act, desk, job_id):
    """What a refusal says, with the id that was asked for taken out."""
    with pytest.raises(NotFound) as refusal:
        act(desk, job_id)
    error = refusal.value
    return type(error), str(error).replace(job_id, "ID"), error.code, error.hint, error.exit_code, error.what


@pytest.mark.proves("TN-03")
@pytest.mark.parametrize("verb", VERBS)
def test_a_foreign_job_looks_exactly_like_an_absent_one(verb):
    waiting = fails.using(tenant="acme").enqueue("A1").id
    desk = app.desk(GLOBEX)

    foreign, absent, nonsense = (told(VERBS[verb], desk, job_id) for job_id in (waiting, new_id(), "no-id"))

    assert foreign == absent == nonsense
    assert app.desk(ACME).get(waiting).state is State.QUEUED


@pytest.mark.proves("TN-03", "TN-02")
def test_a_foreign_dead_letter_cannot_be_requeued_even_by_support(letter):
    def requeue(desk, job_id):
        return desk.requeue(job_id)

    assert told(requeue, app.desk(OTHER_SUPPORT), letter) == told(requeue, app.desk(OTHER_SUPPORT), new_id())
    assert app.desk(OTHER_SUPPORT).requeue_all() == []
    assert app.desk(ADMIN).get(letter).requeued_to is None


@pytest.mark.proves("DL-03")
def test_a_tenant_may_not_requeue_and_the_refusal_is_written_down(bench, letter):
    for act in (lambda desk: desk.requeue(letter), lambda desk: desk.requeue_all()):
        with pytest.raises(Forbidden, match="A tenant may not requeue; it takes support or admin"):
            act(app.desk(ACME))

    refusals = bench.store.events.latest(name="request.refused")
    assert [(event.tenant, event.actor, event.data["verb"]) for event in refusals] == [
        ("acme", "tenant:acme", "requeue")
    ] * 2
    assert app.desk(ACME).get(letter).requeued_to is None


@pytest.mark.proves("DL-02")
def test_support_requeues_a_dead_letter_once_with_its_reason(bench, letter):
    made = app.desk(SUPPORT).requeue(letter, correlation_id="req-9")
    successor = app.desk(ACME).get(made.id)

    assert (successor.requeued_from, successor.tenant, successor.correlation_id) == (letter, "acme", "req-9")
    assert (successor.attempts, successor.job_key) == (0, app.desk(ACME).get(letter).job_key)
    with pytest.raises(AlreadyRequeued) as refusal:
        app.desk(ADMIN).requeue(letter)
    assert refusal.value.successor == made.id
    (event,) = bench.store.events.latest(name="job.requeued")
    assert (event.actor, event.data["reason"]) == ("support:ann", "ticket 7")


def test_a_fresh_requeue_takes_a_new_job_key(letter):
    made = app.desk(ADMIN).requeue(letter, fresh=True)

    assert app.desk(ADMIN).get(made.id).job_key == made.id


def test_all_dead_letters_of_a_filter_are_requeued_and_no_others(bench):
    wanted = [fails.using(tenant="acme", tags=["nightly"]).enqueue(f"S{n}").id for n in range(3)]
    fails.using(tenant="acme").enqueue("A1")
    fails.using(tenant="globex", tags=["nightly"]).enqueue("A1")
    bench.drain()

    made = app.desk(SUPPORT).requeue_all(JobFilter(tag="nightly"))
    again = app.desk(SUPPORT).requeue_all(JobFilter(tag="nightly"))

    assert {app.desk(ADMIN).get(one.id).requeued_from for one in made} == set(wanted)
    assert again == []


@pytest.mark.proves("ENQ-04", "TN-02")
def test_a_page_shows_a_tenant_its_own_jobs_whatever_its_filter_says():
    mine = [fails.using(tenant="acme").enqueue(f"S{n}").id for n in range(3)]
    fails.using(tenant="globex").enqueue("A1")

    first = app.desk(ACME).page(JobFilter(tenant="globex", state=State.QUEUED), limit=2)
    rest = app.desk(ACME).page(after=first.next, limit=2)

    assert [job.id for job in first.jobs + rest.jobs] == mine[::-1]
    assert rest.next is None
    assert len(app.desk(ADMIN).page().jobs) == 4


def test_a_tenant_cancels_what_waits_and_not_what_is_over(letter):
    waiting = fails.using(tenant="acme").enqueue("A1")

    assert app.desk(ACME).cancel(waiting.id, "not needed") is State.CANCELLED
    assert (waiting.state(), waiting.job().reason) == ("cancelled", "not needed")
    with pytest.raises(IllegalTransition, match="is dead: it cannot cancel"):
        app.desk(ACME).cancel(letter)
    with pytest.raises(IllegalTransition, match="is cancelled: it cannot requeue"):
        app.desk(ADMIN).requeue(waiting.id)


def test_support_acts_only_with_a_reason():
    with pytest.raises(Refused, match="only with a reason"):
        Principal.support("ann", tenant="acme", reason=" ")
    assert (SUPPORT.actor, ADMIN.actor, ACME.actor) == ("support:ann", "admin:root", "tenant:acme")

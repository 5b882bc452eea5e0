"""Jobs enqueued by name, waited for, retried; their timelines in pages. All of it records who did it."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Permanent, Principal, Snooze, State
from haulwright.errors import Forbidden, InvalidPayload, InvalidValue, JobFailed, ResultTimeout, UnknownTask

app = Haulwright()
ACME = Principal.of_tenant("acme")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
ADMIN = Principal.admin("root", "nightly run")


@app.task(event_fields=["sku"])
def price(sku: str, amount: int = 1) -> int:
    return amount * len(sku[:1])


@app.task()
def fails() -> None:
    raise Permanent("no")


@app.task()
def waits() -> Snooze:
    return Snooze(60)


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


def test_a_task_is_enqueued_by_its_name_and_its_first_event_says_who_and_why():
    jobs = app.operations(ADMIN).jobs
    enqueued = jobs.enqueue("price", {"sku": "A1"}, tenant="acme", queue="slow", priority=7, tags=["x"])
    job = jobs.get(enqueued.id)

    assert (enqueued.created, job.tenant, job.queue, job.priority) == (True, "acme", "slow", 7)
    assert job.args == '{"amount":1,"sku":"A1"}'
    (event,) = jobs.timeline(enqueued.id).rows
    assert (event.name, event.actor) == ("job.queued", "admin:root")
    assert event.data == {"job_id": job.id, "tenant_id": "acme", "sku": "A1", "reason": "nightly run"}


def test_the_job_that_stands_for_a_request_already_gets_no_event():
    jobs = app.operations(ADMIN).jobs
    first = jobs.enqueue("price", {"sku": "A1"}, job_key="plan-1")
    second = jobs.enqueue("price", {"sku": "A1"}, job_key="plan-1")

    assert (second.created, second.id) == (False, first.id)
    assert len(jobs.timeline(first.id).rows) == 1


def test_a_tenant_enqueues_for_itself_and_for_nobody_else(bench):
    jobs = app.operations(ACME).jobs

    assert jobs.get(jobs.enqueue("price", {"sku": "A1"}).id).tenant == "acme"
    with pytest.raises(Forbidden, match="acts for 'acme' alone"):
        jobs.enqueue("price", {"sku": "A1"}, tenant="globex")
    (refusal,) = bench.store.events.latest(name="request.refused")
    assert (refusal.tenant, refusal.actor, refusal.data["verb"]) == ("acme", "tenant:acme", "job.enqueue")


@pytest.mark.parametrize(
    ("task", "arguments", "options", "error"),
    [
        ("prise", {}, {}, UnknownTask),
        ("price", {}, {}, InvalidPayload),
        ("price", {"sku": "A1", "colour": "red"}, {}, InvalidPayload),
        ("price", {"sku": "A1"}, {"tenant": ""}, InvalidValue),
        ("price", {"sku": "A1"}, {"queue": ""}, InvalidValue),
    ],
)
def test_what_cannot_be_enqueued_is_refused_and_nothing_is_written(bench, task, arguments, options, error):
    with pytest.raises(error):
        app.operations(ADMIN).jobs.enqueue(task, arguments, **options)
    assert bench.all_enqueued() == []


def test_texts_become_the_values_that_the_task_wants():
    assert app.operations(ADMIN).jobs.arguments("price", {"sku": "007", "amount": "3"}) == {"sku": "007", "amount": 3}


def test_a_wait_ends_with_the_job_with_its_failure_or_with_the_time(bench):
    jobs = app.operations(ACME).jobs
    done, dead, waiting = (jobs.enqueue(*call).id for call in (("price", {"sku": "A1"}), ("fails", {}), ("waits", {})))
    bench.drain()

    assert jobs.wait(done).result == "1"
    with pytest.raises(JobFailed):
        jobs.wait(dead)
    with pytest.raises(ResultTimeout):
        jobs.wait(waiting, timeout=0)


def test_a_retry_of_a_dead_letter_is_a_requeue_and_takes_that_right(bench):
    dead = fails.using(tenant="acme").enqueue().id
    bench.drain()

    with pytest.raises(Forbidden, match=r"dead\.requeue"):
        app.operations(ACME).jobs.retry(dead)
    retried = app.operations(SUPPORT).jobs.retry(dead)

    assert (retried.requeued_from, retried.changed) == (dead, True)
    assert app.operations(ACME).jobs.get(retried.id).state is State.QUEUED
    (event,) = bench.store.events.latest(name="job.requeued")
    assert (event.actor, event.data["reason"]) == ("support:ann", "ticket 7")


def test_a_retry_of_a_waiting_job_makes_it_due_once(bench):
    waiting = waits.using(tenant="acme").enqueue().id
    bench.drain()
    jobs = app.operations(ACME).jobs

    first, second = jobs.retry(waiting), jobs.retry(waiting)

    assert (first.id, first.changed, second.changed, first.requeued_from) == (waiting, True, False, None)


def test_a_timeline_comes_in_pages_and_together_they_are_the_whole(bench):
    job_id = waits.enqueue().id
    for _ in range(4):
        bench.drain()
        bench.advance(60)
    jobs = app.operations(ADMIN).jobs
    whole = jobs.timeline(job_id)

    pages = [jobs.timeline(job_id, limit=3)]
    while pages[-1].next is not None:
        pages.append(jobs.timeline(job_id, after=pages[-1].next, limit=3))

    assert len(pages) > 1
    assert whole.next is None
    assert [event for page in pages for event in page.rows] == whole.rows
    assert {event.name for event in jobs.timeline(job_id, name="job.snoozed").rows} == {"job.snoozed"}
    assert jobs.timeline(job_id, tenant="globex").rows == []

"""Every job can say where it stands, in a code for programs and a sentence with the next step for people."""

from __future__ import annotations

import pytest

from haulwright import Concurrency, Haulwright, Permanent, Principal, Retry, Skip, Snooze
from haulwright.engine.ids import new_id
from haulwright.runtime.identity import this_process

app = Haulwright()
ADMIN = Principal.admin("root")


@app.task(retry=Retry(3, base="1 min", jitter=0))
def flaky() -> None:
    raise ValueError("no luck")


@app.task(retry=Retry(3, base="1 min", jitter=0))
def keyless() -> None:
    raise KeyError("sku")


@app.task()
def hopeless() -> None:
    raise Permanent("no such shop")


@app.task()
def fine() -> None: ...


@app.task()
def needless() -> Skip:
    return Skip("nothing new")


@app.task()
def throttled() -> Snooze:
    return Snooze(30, "shop.example")


@app.task(concurrency=Concurrency(1))
def one_at_a_time() -> None: ...


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def why(bench):
    """Ask as somebody who sees everything, beside a live worker that knows all tasks."""

    def ask(handle):
        bench.store.workers.register(this_process("w1"), ["default"], sorted(app.tasks))
        told = app.operations(ADMIN).jobs.why(handle.id)
        return told.code, told.sentence, told.next_step

    return ask


def test_a_job_without_a_worker():
    handle = fine.enqueue()

    told = app.operations(ADMIN).jobs.why(handle.id)

    assert (told.code, told.next_step) == ("no_worker", "haulwright worker --queues default")
    assert told.sentence == "no live worker serves the queue 'default'"


def test_a_job_without_a_worker_after_a_run_that_failed(bench):
    handle = flaky.enqueue()
    bench.drain()
    bench.advance("10 min")  # the worker of that run is live no more

    told = app.operations(ADMIN).jobs.why(handle.id)

    assert (told.code, told.sentence) == (
        "no_worker", "no live worker serves the queue 'default' (the last error: no luck)"
    )  # fmt: skip


def test_a_job_without_a_worker_that_has_to_wait_besides_says_both(bench):
    """Who starts a worker because of the first must not be left alone with the second."""
    later = fine.using(delay="90 s").enqueue()
    one_at_a_time.enqueue()
    at_gate = one_at_a_time.enqueue()
    bench.store.leases.claim(new_id(), ["default"], 2)

    told = [app.operations(ADMIN).jobs.why(handle.id).sentence for handle in (later, at_gate)]

    no_worker = "no live worker serves the queue 'default'; besides, it"
    assert told == [
        f"{no_worker} is to run in 1 min 30 s",
        f"{no_worker} waits for concurrency:one_at_a_time, and asks again in 500 ms",
    ]


@pytest.mark.proves("JOB-04")
def test_a_job_whose_task_no_worker_knows(bench):
    handle = fine.enqueue()
    bench.store.workers.register(this_process("w1"), ["default"], ["other"])

    told = app.operations(ADMIN).jobs.why(handle.id)

    assert told.code == "unknown_task"
    assert told.sentence == "no live worker of the queue 'default' knows the task 'fine'"


def test_a_job_in_a_paused_queue(bench, why):
    handle = fine.enqueue()
    bench.store.queues.pause("default", actor="admin:ann", reason="deploy")

    assert why(handle) == (
        "queue_paused",
        "its queue 'default' is paused by admin:ann",
        "haulwright queue resume default",
    )


def test_a_job_that_is_due_and_one_that_is_not_yet(why):
    assert why(fine.enqueue()) == ("due", "it is due, and the next free worker takes it", "")
    assert why(fine.using(delay="90 s").enqueue()) == ("scheduled", "it is to run in 1 min 30 s", "")


def test_a_job_between_two_attempts(bench, why):
    handle = flaky.enqueue()
    bench.drain()
    bench.advance("15 s")

    assert why(handle) == ("retrying", "attempt 1 of 3 failed: no luck; the next one is in 45 s", "")


def test_an_error_of_one_word_is_told_with_its_class(bench, why):
    handle = keyless.enqueue()
    bench.drain()

    assert why(handle)[1] == "attempt 1 of 3 failed: KeyError: 'sku'; the next one is in 1 min"


def test_a_job_before_a_closed_gate(bench, why):
    handle = throttled.enqueue()
    bench.drain()

    assert why(handle) == ("gate_closed", "it waits for shop.example, and asks again in 30 s", "")


def test_a_job_that_waits_for_its_turn_under_a_concurrency_key(bench, why):
    one_at_a_time.enqueue()
    second = one_at_a_time.enqueue()
    bench.store.leases.claim(new_id(), ["default"], 2)

    code, sentence, _ = why(second)

    assert (code, sentence) == ("gate_closed", "it waits for concurrency:one_at_a_time, and asks again in 500 ms")


@pytest.mark.proves("ME-05")
def test_a_running_job_and_one_whose_lease_ran_out(bench, why):
    handle = fine.enqueue()
    holder = this_process("w9")
    bench.store.workers.register(holder, ["default"], [])
    bench.store.leases.claim(holder.id, ["default"])
    bench.advance("10 s")

    assert why(handle) == ("running", "it runs on w9 for 10 s, attempt 1 of 5", "")
    app.operations(ADMIN).jobs.cancel(handle.id)
    assert why(handle)[1] == "it runs on w9 for 10 s, attempt 1 of 5; it was asked to cancel"
    bench.advance("25 s")
    assert why(handle)[1] == (
        "it runs on w9 for 35 s, attempt 1 of 5; it has not been heard of for 35 s, and is taken back when its lease "
        "ends, in 1 min 25 s; it was asked to cancel"
    )
    bench.advance("90 s")
    assert why(handle) == ("lease_expired", "its lease ran out 5 s ago under w9; the next sweep takes it back", "")


def test_finished_jobs(bench, why):
    done, dead, skipped, cancelled = fine.enqueue(), hopeless.enqueue(), needless.enqueue(), fine.enqueue()
    app.operations(ADMIN).jobs.cancel(cancelled.id, "not needed")
    bench.drain()

    assert why(done) == ("succeeded", "it is done", "")
    sentence = "it is a dead letter: permanent (no such shop)"
    assert why(dead) == ("dead", sentence, f"haulwright dead requeue {dead.id}")
    assert why(skipped) == ("skipped", "it was skipped: nothing new", "")
    assert why(cancelled) == ("cancelled", "it was cancelled: not needed", "")
    successor = app.operations(ADMIN).dead_letters.requeue(dead.id).id
    assert why(dead)[:2] == ("requeued", f"it is dead and was requeued as {successor}")

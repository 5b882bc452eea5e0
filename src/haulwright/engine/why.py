"""Why a job does not run: from its row and a few facts around it to one sentence and the next step. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from haulwright.clock import SECOND, Instant
from haulwright.engine.durations import spell
from haulwright.engine.job import Job
from haulwright.engine.join import JOIN_GATE, WaitedFor
from haulwright.engine.lease import watch_seconds
from haulwright.engine.outcome import START_GATE
from haulwright.engine.source import SourceState, gate_of
from haulwright.engine.transitions import State

CLOSED = {
    "disabled": "is disabled",
    "paused": "is paused",
    "parked": "asked for patience and takes no request",
    "breaker": "failed too often, and its breaker is open",
    "credential": "refused its credential and is closed",
    "budget": "has spent the budget of its day and is closed",
    "rate": "is over its rate",
    "permits": "has all its permits out",
}
"""What a closed gate of a source means, in words."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What must be known beside the row."""

    now: Instant
    queue_paused_by: str | None
    """Who paused its queue, if somebody did."""
    workers_on_queue: int
    """Live workers that serve its queue."""
    workers_with_task: int
    """Those of them that know its task."""
    source: SourceState | None = None
    """How the source stands that it waits for, where it waits for one."""
    waited_for: WaitedFor | None = None
    """The jobs that it waits for, where it waits for some."""


@dataclass(frozen=True, slots=True)
class Why:
    """Where a job stands, in words."""

    code: str
    sentence: str
    next_step: str = ""


def error_words(job: Job) -> str:
    """What the last failure said, after its class where that is one word, such as the key of a KeyError; or empty."""
    message = job.error_message or ""
    if not message or " " in message or message == job.error_class:
        return message
    return f"{job.error_class}: {message}"


def why(job: Job, around: Surroundings) -> Why:
    """Say where a job stands, and what to do about it."""
    if job.state is State.RUNNING:
        return _running(job, around)
    if job.state is not State.QUEUED:
        return _finished(job)
    if around.queue_paused_by is not None:
        sentence = f"its queue {job.queue!r} is paused by {around.queue_paused_by}"
        return Why("queue_paused", sentence, f"haulwright queue resume {job.queue}")
    if around.workers_on_queue == 0:
        sentence = f"no live worker serves the queue {job.queue!r}{_besides(job, around)}"
        return Why("no_worker", sentence, f"haulwright worker --queues {job.queue}")
    if around.workers_with_task == 0:
        sentence = f"no live worker of the queue {job.queue!r} knows the task {job.task!r}"
        return Why("unknown_task", sentence, "deploy the code that declares it, or cancel the job")
    return _waiting(job, around)


def _besides(job: Job, around: Surroundings) -> str:
    """What keeps a job waiting when a worker is there: whoever starts one must not look for it in vain."""
    if job.run_at > around.now:
        return f"; besides, {_waiting(job, around).sentence}"
    return _last_error(job)


def _waiting(job: Job, around: Surroundings) -> Why:
    wait = spell(max(0, job.run_at - around.now) / SECOND)
    if job.waiting_on is not None and (at := gate_of(job.waiting_on)):
        return _at_source(*at, around, wait)
    if job.waiting_on == JOIN_GATE and around.waited_for is not None and around.waited_for.count:
        return _joined(around.waited_for, wait)
    if job.waiting_on is not None and job.waiting_on != JOIN_GATE:
        return _at_gate(job, wait)
    if job.run_at > around.now and job.attempts:
        error = f": {error_words(job)}" if job.error_message else ""
        sentence = f"attempt {job.attempts} of {job.max_attempts} failed{error}; the next one is in {wait}"
        return Why("retrying", sentence)
    if job.run_at > around.now:
        return _put_off(job, wait)
    return Why("due", "it is due, and the next free worker takes it")


def _put_off(job: Job, wait: str) -> Why:
    if job.deferrals and job.error_message:
        return Why("put_off", f"its last run was put off; the last error: {error_words(job)}; it runs again in {wait}")
    return Why("scheduled", f"it is to run in {wait}")


def _at_gate(job: Job, wait: str) -> Why:
    if job.waiting_on == START_GATE:
        sentence = f"its run could not be started: {job.error_message}; the next try is in {wait}"
        return Why("not_started", sentence, "look at the limits of its worker: processes, threads, memory, open files")
    return Why("gate_closed", f"it waits for {job.waiting_on}{_last_error(job)}, and asks again in {wait}")


def _last_error(job: Job) -> str:
    return f" (the last error: {error_words(job)})" if job.error_message else ""


def _at_source(key: str, gate: str, around: Surroundings, wait: str) -> Why:
    """Name the gate that is closed at this moment; where none is, the one that gave the job its turn."""
    closed = around.source.closing(around.now) if around.source is not None else None
    sentence = f"the source {key!r} {CLOSED[closed.gate if closed else gate]}"
    how_long = f" {closed.words(around.now)}" if closed else ""
    opens = closed is not None and closed.gate in {"paused", "breaker", "credential", "parked"}
    command = f"haulwright source {'resume' if opens else 'show'} {key}"
    return Why("gate_closed", f"{sentence}{how_long}; the job's turn is in {wait}", command)


def _joined(jobs: WaitedFor, wait: str) -> Why:
    """Name the jobs that are waited for, as far as that helps."""
    how_many = "one job" if jobs.count == 1 else f"{jobs.count} jobs"
    more = f" and {jobs.count - len(jobs.first)} more" if jobs.count > len(jobs.first) else ""
    sentence = f"it waits for {how_many} to end: {', '.join(jobs.first)}{more}; it looks again by itself in {wait}"
    return Why("joined", sentence, f"haulwright job why {jobs.first[0]}")


def _running(job: Job, around: Surroundings) -> Why:
    holder = job.lease_owner or job.worker_id
    if job.lease_expires_at is not None and job.lease_expires_at < around.now:
        ago = spell((around.now - job.lease_expires_at) / SECOND)
        return Why("lease_expired", f"its lease ran out {ago} ago under {holder}; the next sweep takes it back")
    since = spell(max(0, around.now - (job.leased_at or around.now)) / SECOND)
    suffix = _silence(job, around.now) + ("; it was asked to cancel" if job.cancel_reason is not None else "")
    return Why("running", f"it runs on {holder} for {since}, attempt {job.attempts} of {job.max_attempts}{suffix}")


def _silence(job: Job, now: Instant) -> str:
    """What says that the holder may be gone: a living worker would have renewed the lease by now."""
    if job.heartbeat_at is None or job.lease_expires_at is None:
        return ""
    silent = (now - job.heartbeat_at) / SECOND
    if silent <= watch_seconds(job.lease_expires_at - job.heartbeat_at):
        return ""
    rest = spell((job.lease_expires_at - now) / SECOND)
    return f"; it has not been heard of for {spell(silent)}, and is taken back when its lease ends, in {rest}"


def _finished(job: Job) -> Why:
    if job.state is State.SUCCEEDED:
        return Why("succeeded", "it is done")
    if job.state is State.DEAD and job.requeued_to is not None:
        successor = job.requeued_to
        return Why("requeued", f"it is dead and was requeued as {successor}", f"haulwright job show {successor}")
    suffix = f" ({error_words(job)})" if job.error_message else ""
    if job.state is State.DEAD:
        return Why("dead", f"it is a dead letter: {job.reason}{suffix}", f"haulwright dead requeue {job.id}")
    return Why(str(job.state), f"it was {job.state}: {job.reason}")

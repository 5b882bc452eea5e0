"""Who may change a job, and how: a lease under its fence and holder, a reaper what ran out, a claim what is due."""

from __future__ import annotations

from collections.abc import Iterator

from haulwright.engine.retry import Retry
from proof.simulation.judge import Change, check
from proof.simulation.snapshot import JobRow, PastRow
from proof.simulation.world import SECOND
from proof.support.checker import ENDS, FINAL_EVENTS

MAKES_JOBS = {"enqueue", "requeue", "open", "run"}
MOVES_WAITERS = {"leave", "govern", "open source"}
POLICY = Retry(5, base="10 s", jitter=0.25)
LEGAL_ENDS = {
    "cancel": {"cancelled"},
    "expire": {"dead"},
    "reap": {"dead", "cancelled"},
    "recover": {"dead", "cancelled"},
    "give back": {"cancelled"},
    "run": {"succeeded"},
    "settle": {"succeeded", "dead", "cancelled", "skipped"},
}
"""How a job may end, by the verb that ends it."""


@check("I2")
def jobs_are_asked_for(change: Change) -> Iterator[str]:
    """A job appears by an enqueue, a requeue, a slot, or a run that holds its lease; queued, unclaimed, and new."""
    for job in change.after.jobs.keys() - change.before.jobs.keys():
        new = change.after.jobs[job]
        fresh = (new.state, new.fence, new.attempts) == ("queued", 0, 0) and job not in change.before.past
        if change.act.verb not in MAKES_JOBS or not fresh or (change.act.verb == "run" and not _is_held(change)):
            yield f"job {job} appeared as {new}"


@check("I6")
def writes_carry_their_lease(change: Change) -> Iterator[str]:
    """An active job changes under the lease that holds it, or by a claim, a sweep, a person or a gate, as they may."""
    for job, old in change.before.jobs.items():
        new = change.after.jobs.get(job)
        if new is not None and new != old and not _may_change(change, old, new):
            yield f"{old} became {new}"


@check("I8")
def ends_are_legal(change: Change) -> Iterator[str]:
    """A job ends by who may end it, in a state that this verb has, under the fence and holder that it had."""
    for job in change.before.jobs.keys() - change.after.jobs.keys():
        old, past = change.before.jobs[job], change.after.past.get(job)
        if past is None or not _may_end(change, old):
            yield f"{old} ended as {past}"
        elif past.state not in LEGAL_ENDS[change.act.verb] or (past.fence, past.worker_id) != old.lease[1:]:
            yield f"{old} ended illegally as {past}"
        elif not _is_deserved(past):
            yield f"{past} died too early"


@check("I8")
def cancelled_jobs_do_not_wait(change: Change) -> Iterator[str]:
    """A job that was asked to cancel does not go back to the queue."""
    for new in change.after.jobs.values():
        if new.state == "queued" and new.cancel_reason is not None:
            yield f"{new} was asked to cancel, and waits to run again"


@check("I7")
def ends_are_final(change: Change) -> Iterator[str]:
    """What is finished stays as it is, but for the one mark of a requeue, until retention takes it."""
    if change.after.past is change.before.past:
        return
    for job, old in change.before.past.items():
        new = change.after.past.get(job)
        if new == old or (new is None and change.act.verb == "prune"):
            continue
        marked = new is not None and new == old._replace(requeued_to=new.requeued_to)
        if not marked or change.act.verb != "requeue" or old.requeued_to is not None:
            yield f"finished job {old} became {new}"


@check("I12")
def jobs_are_in_one_place(change: Change) -> Iterator[str]:
    """A job is active or finished, never both."""
    for job in change.after.jobs.keys() & change.after.past.keys():
        yield f"{change.after.jobs[job]} is active, and finished as {change.after.past[job]}"


@check("I12")
def transitions_are_told(change: Change) -> Iterator[str]:
    """A step of a job and the event that tells of it are in one transaction."""
    told = {(event.job_id, event.name) for event in change.events}
    for job, old in change.before.jobs.items():
        new, past = change.after.jobs.get(job), change.after.past.get(job)
        names = {name for told_job, name in told if told_job == job}
        if new is None and past is not None and not (past.state == "succeeded" and past.fence == 1):
            if not names & FINAL_EVENTS:
                yield f"{old} ended as {past}, and no event tells of it"
        elif new is not None and (old.state, new.state) == ("running", "queued") and not names & ENDS:
            yield f"{old} became {new}, and no event tells of it"


@check("I15")
def retries_wait(change: Change) -> Iterator[str]:
    """A failure waits as its policy says, a loss as the rule of losses says, and a release not at all."""
    for job, old in change.before.jobs.items():
        new = change.after.jobs.get(job)
        if new is None or (old.state, new.state) != ("running", "queued"):
            continue
        wait = new.run_at - change.now
        if new.losses > old.losses:
            right = wait == (0 if new.losses == 1 else 30 * SECOND * 2 ** (new.losses - 2))
        elif new.attempts == old.attempts:
            right = POLICY.delay_us(old.attempts, lambda: 0.0) <= wait <= POLICY.delay_us(old.attempts, lambda: 1.0)
        else:
            right = wait >= 0 if new.deferrals > old.deferrals else wait == 0
        if not right:
            yield f"{old} became {new}, which waits {wait} us"


@check("I19")
def claims_keep_the_order(change: Change) -> Iterator[str]:
    """Within a tenant and queue no job is claimed while a better one, or an older one, is due and left."""
    if change.act.verb != "claim":
        return
    taken = _claimed(change)
    left = [job for job in change.before.jobs.values() if _is_due(change, job) and change.after.jobs.get(job.id) == job]
    for job in taken:
        for other in left:
            if (other.tenant, other.queue) == (job.tenant, job.queue) and other.turn < _turn(change, job):
                yield f"{job} was claimed before {other}"


@check("I19")
def tenants_take_turns(change: Change) -> Iterator[str]:
    """No tenant gets two jobs of a claim while another one, whose jobs pass no gate, gets none."""
    if change.act.verb != "claim":
        return
    due = [job for job in change.before.jobs.values() if _is_due(change, job)]
    if any(job.source or job.concurrency_key for job in due):
        return
    for queue in {job.queue for job in due}:
        counts = dict.fromkeys((job.tenant for job in due if job.queue == queue), 0)
        for job in _claimed(change):
            if job.queue == queue:
                counts[job.tenant] += 1
        if counts and min(counts.values()) == 0 and max(counts.values()) > 1:
            yield f"of queue {queue} the tenants got {counts}"


@check("I18")
def paused_queues_rest(change: Change) -> Iterator[str]:
    """Nothing is claimed from a paused queue, and nothing becomes overdue in it."""
    if change.act.verb == "claim":
        for job in _claimed(change):
            if job.queue in change.before.paused:
                yield f"{job} was claimed from a paused queue"
    if change.act.verb == "expire":
        for gone in change.before.jobs.keys() - change.after.jobs.keys():
            if change.before.jobs[gone].queue in change.before.paused:
                yield f"{change.before.jobs[gone]} was buried in a paused queue"


@check("I20")
def strangers_change_nothing(change: Change) -> Iterator[str]:
    """Who names a job of another tenant changes nothing."""
    if change.act.verb == "trespass" and change.before != change.after:
        yield "a stranger changed something"


def _is_held(change: Change) -> bool:
    return any(change.before.holds(lease.key) for lease in change.act.leases)


def _may_end(change: Change, old: JobRow) -> bool:
    verb = change.act.verb
    if old.state == "queued":
        source = change.before.sources.get(old.source or "")
        is_paused = source is not None and source.paused_until > change.now
        overdue = old.deadline_at is not None and old.deadline_at <= change.now and not is_paused
        return verb == "cancel" or (verb == "expire" and overdue)
    if verb == "give back":
        return _is_unknown(change, old)
    return (verb in {"run", "settle"} and _carries(change, old)) or _may_take_back(change, old)


def _is_deserved(past: PastRow) -> bool:
    """A budget that is said to be exhausted is."""
    if past.reason == "attempts_exhausted":
        return past.attempts >= past.max_attempts
    if past.reason == "lease_exhausted":
        return past.attempts >= past.max_attempts or past.losses > past.max_attempts
    return True


def _may_change(change: Change, old: JobRow, new: JobRow) -> bool:
    verb = change.act.verb
    if old.state == "queued" and old.waiting_on and new == old._replace(run_at=change.now) and old.run_at > change.now:
        return True  # a gate that opens wakes its waiters
    if verb in MOVES_WAITERS and (old.waiting_on or "").startswith("source:"):
        return old.state == "queued" and new == old._replace(run_at=new.run_at, deadline_at=new.deadline_at)
    rules = {
        "claim": lambda: _is_claim(old, new, change.now) or _is_parked(old, new, change.now),
        "cancel": lambda: old.state == "running" and new == old._replace(cancel_reason=new.cancel_reason),
        "hasten": lambda: old.state == "queued" and new == old._replace(run_at=change.now, waiting_on=None),
        "expire": lambda: _is_given_back_time(old, new, change.now),
        "renew": lambda: _carries(change, old) and new == old._replace(lease_expires_at=new.lease_expires_at),
        "run": lambda: _carries(change, old) and _is_run(old, new),
        "settle": lambda: _carries(change, old) and _is_put_back(old, new) and new.losses == old.losses,
        "give back": lambda: _is_unknown(change, old) and _is_put_back(old, new),
        "reap": lambda: _may_take_back(change, old) and _is_put_back(old, new) and new.losses == old.losses + 1,
        "recover": lambda: _may_take_back(change, old) and _is_put_back(old, new) and new.losses == old.losses + 1,
    }
    return verb in rules and rules[verb]()


def _is_given_back_time(old: JobRow, new: JobRow, now: int) -> bool:
    """A sweep that finds a deadline passed gives back what pauses took from a job that waits, and no less."""
    if old.state != "queued" or old.deadline_at is None or new.deadline_at is None:
        return False
    return (
        old.deadline_at <= now
        and new.deadline_at > old.deadline_at
        and new == old._replace(deadline_at=new.deadline_at)
    )


def _is_claim(old: JobRow, new: JobRow, now: int) -> bool:
    """Due, and one fence further: running, or waiting for a gate without a burnt attempt.

    One that waits for a permit may be woken by the same claim, where that gives one back which it cannot use; then it
    may have been turned away by that claim before.
    """
    is_woken = (old.waiting_on or "").startswith("concurrency:")
    if old.state != "queued" or (old.run_at > now and not is_woken) or new.fence <= old.fence:
        return False
    if new.state == "running":
        turned_away = new.deferrals - old.deferrals
        return new.fence == old.fence + turned_away + 1 and new.attempts == old.attempts + 1
    return new.attempts == old.attempts and new.deferrals > old.deferrals and new.waiting_on is not None


def _is_parked(old: JobRow, new: JobRow, now: int) -> bool:
    """A job of a source that was due behind a refused one got a turn without being claimed."""
    turn = old._replace(run_at=new.run_at, waiting_on=new.waiting_on, deferrals=old.deferrals + 1)
    return old.state == "queued" and old.source is not None and old.run_at <= now and new == turn


def _is_run(old: JobRow, new: JobRow) -> bool:
    """A run tells of its progress, and a commit that took long renews the lease that it holds."""
    return new == old._replace(progress=new.progress, lease_expires_at=new.lease_expires_at)


def _is_put_back(old: JobRow, new: JobRow) -> bool:
    is_same = (new.fence, new.task, new.progress) == (old.fence, old.task, old.progress)
    return is_same and (new.state, new.worker_id) == ("queued", None) and 0 <= old.attempts - new.attempts <= 1


def _carries(change: Change, old: JobRow) -> bool:
    """Whether the call carries the lease under which this job runs."""
    return old.state == "running" and old.lease in {lease.key for lease in change.act.leases}


def _is_unknown(change: Change, old: JobRow) -> bool:
    """Whether a worker holds this without knowing it."""
    return old.state == "running" and old.worker_id in change.act.workers and not _carries(change, old)


def _may_take_back(change: Change, old: JobRow) -> bool:
    if change.act.verb == "reap":
        return old.state == "running" and (old.lease_expires_at or 0) < change.now
    return change.act.verb == "recover" and old.state == "running" and old.worker_id in change.act.workers


def _is_due(change: Change, job: JobRow) -> bool:
    return job.state == "queued" and job.run_at <= change.now and job.queue not in change.before.paused


def _turn(change: Change, job: JobRow) -> tuple[int, int, str]:
    """When it was the turn of a job that a claim took: now, where the claim itself woke it by a permit it gave back."""
    return job._replace(run_at=min(job.run_at, change.now)).turn


def _claimed(change: Change) -> list[JobRow]:
    """The jobs that a claim took, as they were before it."""
    claimed: dict[str, JobRow] = {}
    for job, old in change.before.jobs.items():
        new = change.after.jobs.get(job)
        if new is not None and old.state == "queued" and new.state == "running":
            claimed[job] = old
    return list(claimed.values())

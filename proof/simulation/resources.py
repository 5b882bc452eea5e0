"""What is shared: the ledger, permits, gates and breakers of sources, joins. Each row has an owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from haulwright.engine.job import LeaseKey
from proof.simulation.judge import Change, check
from proof.simulation.snapshot import Snapshot, SourceRow


@check("I10")
def the_ledger_has_owners(change: Change) -> Iterator[str]:
    """The ledger, stages and rows of commits change under a lease that holds; a person resolves what is unknown."""
    before, after = change.before, change.after
    held = {lease.id for lease in change.act.leases if before.holds(lease.key)} if change.act.verb == "run" else set()
    for key in _changed(before.effects, after.effects):
        old, new = before.effects.get(key), after.effects.get(key)
        by_person = change.act.verb == "resolve" and old is not None and old.state == "unknown"
        if (new is None or new.job_id not in held) and not by_person and change.act.verb != "prune":
            yield f"effect {old} became {new}"
        if old is not None and new is not None and old.state == "done":
            yield f"effect {old}, which was done, became {new}"
    for owned in ((before.stages, after.stages), (before.sink, after.sink)):
        for row in _changed(*owned):
            value = owned[1].get(row)
            if (value is None or value[0] not in held) and change.act.verb != "prune":
                yield f"{row} became {value}"


@check("I10")
def effects_outlive_their_jobs(change: Change) -> Iterator[str]:
    """Retention takes no effect of a job key that is still at work: it would happen again."""
    if change.act.verb != "prune":
        return
    active = {(job.tenant, job.job_key) for job in change.after.jobs.values()}
    for key in change.before.effects.keys() - change.after.effects.keys():
        gone = change.before.effects[key]
        if (gone.tenant, gone.job_key) in active:
            yield f"{gone} was pruned"


@check("I17")
def permits_have_holders(change: Change) -> Iterator[str]:
    """A permit is held by a job that runs under its lease, and stays with it while it does."""
    after = change.after
    for (key, number), holder in after.permits.items():
        if not after.holds(holder):
            yield f"permit {number} of {key} is held by {holder}, which does not run"
    for permit, holder in change.before.permits.items():
        if after.permits.get(permit) != holder and after.holds(holder):
            yield f"permit {permit} was taken from {holder}, which runs"


@check("I17")
def keys_are_not_overrun(change: Change) -> Iterator[str]:
    """No more jobs run under a concurrency key than its limit."""
    running = [job for job in change.after.jobs.values() if job.state == "running" and job.concurrency_key]
    for (key, limit), jobs in Counter((job.concurrency_key, job.concurrency_limit) for job in running).items():
        if limit is not None and jobs > limit:
            yield f"{jobs} jobs run under {key}, whose limit is {limit}"


@check("I17")
def sources_count_their_permits(change: Change) -> Iterator[str]:
    """A source counts the permits that are out, and lets no more out than it has."""
    before, after = change.before, change.after
    if after.sources is before.sources and after.source_permits is before.source_permits:
        return
    out, earlier = _permits_out(after), _permits_out(before)
    for key, row in after.sources.items():
        if row.held != out[key] and row.concurrency is not None:
            yield f"source {key} counts {row.held} permits, and {out[key]} are out"
        if row.concurrency is not None and out[key] > max(row.concurrency, earlier[key]):
            yield f"{out[key]} permits of source {key} are out, which has {row.concurrency}"


@check("I17")
def requests_keep_their_permits(change: Change) -> Iterator[str]:
    """A permit of a source goes back by its holder, or when its lease ends; then at once where the claim took it."""
    before, after = change.before, change.after
    leaving = {lease.key for lease in change.act.leases} if change.act.verb == "leave" else set()
    for permit, holder in before.source_permits.items():
        if permit not in after.source_permits and after.holds(holder) and holder not in leaving:
            yield f"permit {permit} was taken from {holder}, which runs"
    for permit, holder in after.source_permits.items():
        if not after.holds(holder) and _source_of(after, holder) == permit[0]:
            yield f"permit {permit} is held by {holder}, which does not run"


@check("I16")
def closed_gates_let_nobody_through(change: Change) -> Iterator[str]:
    """Nobody passes a source that is paused, parked, disabled or broken, but for one probe at a time."""
    for key, old, new in _sources(change):
        passed = new.tickets - old.tickets
        if passed > 0 and (why := _closed(old, change.now)):
            yield f"{passed} passed source {key}, which is {why}"
        if passed > 0 and old.breaker != "closed":
            if passed > 1 or new.breaker != "half_open":
                yield f"{passed} passed source {key}, whose breaker is {old.breaker}, and it is {new.breaker}"
            if old.breaker == "half_open" and old.probe_until > change.now and new.probe != old.probe:
                yield f"{new.probe} probes source {key} beside {old.probe}"


@check("I16")
def breakers_are_closed_by_their_probe(change: Change) -> Iterator[str]:
    """A breaker opens after its failures, and is closed by the answer to its probe or by a person."""
    carried = {lease.key for lease in change.act.leases}
    for key, old, new in _sources(change):
        if old.breaker == new.breaker or change.act.verb == "open source":
            continue
        by_probe = change.act.verb == "leave" and old.probe in carried
        if new.breaker == "closed" and not (by_probe and old.breaker == "half_open"):
            yield f"source {key} was closed by {change.act}, and its probe is {old.probe}"
        if (old.breaker, new.breaker) == ("half_open", "open") and not by_probe and _probe_runs(change.after, old):
            yield f"source {key} was opened under its probe {old.probe}"
        if (old.breaker, new.breaker) == ("closed", "open") and new.failure_streak < (new.breaker_failures or 0):
            yield f"source {key} opened after {new.failure_streak} failures"


@check("I18")
def joins_have_owners(change: Change) -> Iterator[str]:
    """A job waits for others by a run that holds it, until one of the two ends or it says otherwise."""
    before, after = change.before, change.after
    held = {lease.id for lease in change.act.leases if before.holds(lease.key)}
    for child, parent in after.joins - before.joins:
        if parent not in held or child not in after.jobs:
            yield f"{parent} waits for {child} without a right to"
    for child, parent in before.joins - after.joins:
        if child in after.jobs and parent in after.jobs and parent not in held:
            yield f"{parent} does not wait for {child} any more, which has not ended"


@check("I18")
def parents_sleep_until_the_last(change: Change) -> Iterator[str]:
    """Nobody is woken who still waits for a job."""
    for job, old in change.before.jobs.items():
        new = change.after.jobs.get(job)
        if new is None or old.waiting_on != "join" or new.waiting_on != "join" or new.run_at >= old.run_at:
            continue
        for child, parent in change.after.joins:
            if parent == job and child in change.after.jobs:
                yield f"{new} was woken, and waits for {child}"


def _changed(before: dict, after: dict) -> list:  # type: ignore[type-arg] # of any rows
    if before is after:
        return []
    return [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]


def _sources(change: Change) -> Iterator[tuple[str, SourceRow, SourceRow]]:
    if change.after.sources is not change.before.sources:
        for key, new in change.after.sources.items():
            old = change.before.sources.get(key)
            if old is not None and old != new:
                yield key, old, new


def _closed(row: SourceRow, now: int) -> str:
    if not row.enabled or row.breaker == "refused":
        return "disabled"
    if row.paused_until > now:
        return "paused"
    if row.parked_until > now:
        return "parked"
    return "broken" if row.breaker == "open" and row.open_until > now else ""


def _probe_runs(after: Snapshot, row: SourceRow) -> bool:
    return row.probe_id is not None and after.holds(LeaseKey(row.probe_id, row.probe_fence or 0, row.probe_worker))


def _permits_out(snapshot: Snapshot) -> Counter[str]:
    return Counter(source for source, _ in snapshot.source_permits)


def _source_of(after: Snapshot, holder: LeaseKey) -> str | None:
    row = after.jobs.get(holder.id) or after.past.get(holder.id)
    return None if row is None else row.source

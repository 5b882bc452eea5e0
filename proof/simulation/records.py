"""What is written down: slots with their dispositions, keys that outlive their jobs, and who did what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from proof.simulation.judge import Change, check
from proof.simulation.people import ADMIN
from proof.simulation.snapshot import ScheduleState, SlotRow, Snapshot
from proof.support.checker import FIRING

LEFT_OUT = {"missed", "skipped_overlap", "skipped_paused"}
"""Dispositions of slots that got no job, and may still be given one by hand."""
DONE_BY_PEOPLE = {"cancel", "hasten", "requeue", "pause", "resume", "resolve", "open source"}


@check("I13")
def slots_stay(change: Change) -> Iterator[str]:
    """A slot keeps its disposition, but that a person may give one without a job its job; schedules never go back."""
    if change.after.slots is not change.before.slots:
        for slot, old in change.before.slots.items():
            new = change.after.slots.get(slot)
            if new != old and not (new is None and change.act.verb == "prune") and not _is_mended(change, old, new):
                yield f"{old} became {new}"
    for name, schedule in change.before.schedules.items():
        later = change.after.schedules.get(name)
        if later is None or later.opened_until < schedule.opened_until:
            yield f"{schedule} became {later}"


@check("I13")
def slots_tell_the_truth(change: Change) -> Iterator[str]:
    """What a slot says of itself is so: fired with its job and in time, missed past the grace, skipped for a reason."""
    if change.after.slots is change.before.slots:
        return
    for slot in change.after.slots.keys() - change.before.slots.keys():
        row = change.after.slots[slot]
        schedule = change.before.schedules.get(row.schedule) or change.after.schedules[row.schedule]
        if change.act.verb != "open" or not _is_true(change, row, schedule):
            yield f"{row} of {schedule}"


def _is_mended(change: Change, old: SlotRow, new: SlotRow | None) -> bool:
    """Whether a person opened a slot that had been left out: once, for then it has a job."""
    if new is None or change.act.verb != "open" or old.disposition not in LEFT_OUT or old.job_id is not None:
        return False
    return new.disposition in {"manual", "backfilled"} and new.job_id in change.after.jobs


@check("I3")
def keys_keep_their_jobs(change: Change) -> Iterator[str]:
    """A key stands for one job while it holds; only a requeue passes it on, and only its time ends it."""
    before, after = change.before, change.after
    if after.keys is before.keys:
        return
    for key, (job, end) in before.keys.items():
        is_over = end is not None and end <= change.now
        now_for = after.keys.get(key)
        if now_for is None and not (is_over and change.act.verb == "prune"):
            yield f"{key} of {job} is gone"
        elif now_for is not None and now_for[0] != job and not is_over:
            heir = after.jobs.get(now_for[0])
            if change.act.verb != "requeue" or heir is None or heir.requeued_from != job:
                yield f"{key} went from {job} to {now_for[0]}"
    for key in after.keys.keys() - before.keys.keys():
        if after.keys[key][0] not in after.jobs:
            yield f"{key} stands for {after.keys[key][0]}, which was not made"


@check("I22")
def deeds_are_told(change: Change) -> Iterator[str]:
    """What a person changes is told with their name, and what they did not change is not."""
    if change.act.verb not in DONE_BY_PEOPLE:
        return
    told = any(event.actor == ADMIN for event in change.events)
    differs = _opens if change.act.verb == "open source" else _differs
    if differs(change.before, change.after) and not told:
        yield "something was changed, and nobody is named"


def _is_true(change: Change, row: SlotRow, schedule: ScheduleState) -> bool:
    grace = schedule.misfire_grace_us
    is_late = grace is not None and row.opened_at - row.scheduled_for > grace
    is_paused = schedule.paused_at is not None
    if row.disposition in FIRING and row.job_id not in change.after.jobs:
        return False
    rules = {
        "fired": not is_late and not is_paused and row.scheduled_for <= change.now,
        "missed": is_late and not is_paused,
        "coalesced": (row.schedule, row.merged_into or 0) in change.after.slots and not is_late and not is_paused,
        "skipped_overlap": schedule.overlap == "skip" and not is_late and not is_paused,
        "skipped_paused": is_paused,
        "manual": True,
        "backfilled": True,
    }
    return rules.get(row.disposition, False)


def _opens(before: Snapshot, after: Snapshot) -> bool:
    """Whether a source was opened; that those who wait get their turns is a step of its own."""
    closings = [
        {key: (row.breaker, row.paused_until, row.parked_until) for key, row in snapshot.sources.items()}
        for snapshot in (before, after)
    ]
    return closings[0] != closings[1]


def _differs(before: Snapshot, after: Snapshot) -> bool:
    names = [field.name for field in fields(Snapshot)]
    return any(getattr(before, name) != getattr(after, name) for name in names)

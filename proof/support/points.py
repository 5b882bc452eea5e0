"""Every point at which a worker is killed: the act, what happens there, and the work that leads to it."""

from __future__ import annotations

from dataclasses import dataclass

from proof.support.site import Site
from proof.support.workload import Workload, go


@dataclass(frozen=True)
class Point:
    """One place to die."""

    act: str
    """What the worker is doing."""
    at: str
    """The name that the process reports (see `crashing`)."""
    work: str = "pipeline"
    """The task whose job leads there; `slot` for a schedule, `lost` or `doubt` where a first worker was killed."""
    nth: int = 1
    only: str = ""
    """The one database that has this point, where the other's entry is a single statement."""

    def __str__(self) -> str:
        return f"{self.act}: {self.at}" if not self.at.startswith(f"{self.act}:") else self.at


def _around(act: str, entry: str, work: str = "pipeline", nth: int = 1) -> list[Point]:
    """Before the statement, after it, before the commit, after the commit."""
    moments = (f"before {entry}", f"after {entry}", f"before the commit of {entry}", f"after the commit of {entry}")
    return [Point(act, moment, work, nth) for moment in moments]


def _beside(act: str, entry: str, work: str, nth: int = 1) -> list[Point]:
    """Before a statement that only reads or locks, and after it."""
    return [Point(act, moment, work, nth) for moment in (f"before {entry}", f"after {entry}")]


def _said(act: str, *moments: str, work: str = "pipeline") -> list[Point]:
    return [Point(act, f"{act}: {moment}", work) for moment in moments]


POINTS: list[Point] = [
    *_around("start", "workers.register"),
    *_around("heartbeat", "workers.seen"),
    *_around("claim", "jobs.claim"),
    *_around("permit", "jobs.take_permit"),
    *_said("run", "at its beginning", "between effect and commit", "at its end"),
    *_around("progress", "jobs.progress"),
    *_around("effect begin", "effects.begin"),
    *_said("effect", "in the function, before it acts", "in the function, after it acted"),
    *_around("effect settle", "effects.settle"),
    *_around("effect taken over", "effects.begin_again", "doubt"),
    *_around("stage", "effects.put_stage"),
    *_said("commit", "in the function, before its rows", "in the function, after its rows"),
    *_around("commit", "effects.begin", nth=2),
    *_around("commit", "effects.settle", nth=2),
    *_around("commit and settle", "jobs.settle", "settling"),
    *_beside("commits together", "effects.begin_group", "meeting"),
    *_beside("commits together", "effects.hold_commits", "meeting"),
    *(
        Point("commits together", f"commit: in the function, {when} its rows", "meeting", nth)
        for nth in (1, 2, 3)
        for when in ("before", "after")
    ),
    *_around("commits together", "effects.record_commits", "meeting"),
    *_around("commits together", "jobs.settle", "meeting"),
    *_around("settle", "jobs.settle"),
    Point("settle", "inside jobs.settle", only="sqlite"),
    *_beside("first success", "jobs.settle_successes", "note"),
    Point("first success", "inside jobs.settle_successes", "note", only="sqlite"),
    Point("first success", "before the commit of jobs.settle_successes", "note", only="sqlite"),
    Point("first success", "after the commit of jobs.settle_successes", "note", only="sqlite"),
    *_around("free permit", "jobs.free_permits"),
    *_around("wake", "jobs.wake"),
    *_around("renew", "jobs.renew", "lingering"),
    *_around("retry", "jobs.put_back", "failing"),
    *_around("event", "events.record", "failing", nth=2),
    *_around("snooze", "jobs.put_back", "snoozing"),
    *_beside("join", "joins.unfinished", "joining"),
    *_beside("join", "joins.finished", "joining"),
    *_beside("join", "joins.waits_for_me", "joining"),
    *_around("join", "joins.forget_others", "joining"),
    *_around("join", "joins.wait_for", "joining"),
    *_beside("join", "joins.bell", "joining"),
    *_beside("join", "joins.left", "joining"),
    *_around("join", "jobs.put_back", "joining"),
    *_beside("join", "joins.left", "joining", nth=2),  # the put-back looks once more
    *_around("end of a joined job", "joins.ended", "joining"),
    *_beside("end of a joined job", "joins.lock_parents", "joining"),
    *_around("end of a joined job", "joins.wake_parents", "joining"),
    *_beside("join that is over", "joins.outcomes", "joining"),
    *_around("reap", "workers.touch", "lost"),
    *_around("reap", "jobs.silent", "lost"),
    *_around("reap", "jobs.put_back", "lost"),
    *_around("reap", "workers.lost", "lost"),
    *_around("reap", "sources.give_back", "lost"),
    *_around("source", "sources.declare", "governed"),
    *_around("pass", "sources.pass", "governed"),
    Point("pass", "inside sources.pass", "governed", only="sqlite"),
    *_around("leave", "sources.leave", "governed"),
    Point("leave", "inside sources.leave", "governed", only="sqlite"),
    Point("leave", "before sources.leave_quietly", "visiting"),
    Point("leave", "inside sources.leave_quietly", "visiting", only="sqlite"),
    Point("leave", "before the commit of sources.leave_quietly", "visiting", only="sqlite"),
    Point("leave", "after sources.leave_quietly", "visiting"),
    *_beside("leave and wake", "sources.leave_quietly", "crowding", nth=2),
    *_beside("leave and wake", "jobs.wake", "crowding", nth=4),  # before it at the declarations
    Point("leave and wake", "before the commit of jobs.wake", "crowding", nth=4, only="sqlite"),
    Point("leave and wake", "after the commit of jobs.wake", "crowding", nth=4, only="sqlite"),
    Point("leave and wake", "before the commit of jobs.notify", "crowding", only="postgresql"),
    Point("leave and wake", "after the commit of jobs.notify", "crowding", only="postgresql"),
    *_around("park", "sources.park", "governed"),
    *_around("park", "sources.move_line", "governed", nth=2),  # the first time is at the declaration
    *_around("respread", "sources.respread", "governed", nth=2),
    *_around("respread", "sources.move_line", "governed", nth=3),
    *_around("give back", "sources.give_back", "governed"),
    *_around("slot", "schedules.declare", "slot"),
    *_around("slot", "schedules.advance", "slot"),
    *_around("slot", "schedules.open_slot", "slot"),
    *_around("slot", "jobs.enqueue", "slot"),
    *_around("stop", "workers.stopped"),
]
FIRST_DEATHS = {"lost": "run: at its beginning", "doubt": "effect: in the function, after it acted"}
"""Work that begins with a death of its own: where the worker before the one that is swept was killed."""


def swept_entries() -> set[str]:
    """The statements around which a worker is killed."""
    return {point.at.split()[-1] for point in POINTS if point.at.startswith("before ")}


def expected_jobs(point: Point) -> int:
    """How many jobs are there in the end."""
    return 1 if point.work in {"slot", "lingering"} else 3 + (3 if point.work == "joining" else 0)


def lead_to(point: Point, site: Site, work: Workload) -> None:
    """Bring the site to where the next worker will reach the point."""
    if point.work == "slot":
        work.keep_schedule()
        work.app.declare_schedules()
        site.clock.advance(5 * 60)
        return
    task = work.pipeline if point.work in FIRST_DEATHS else getattr(work, point.work)
    work.enqueue(task, range(min(expected_jobs(point), 3)))  # those that join have one more each
    site.raise_flag(go(2))  # a lingering run is let go once its first worker is dead

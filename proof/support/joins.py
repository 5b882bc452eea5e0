"""Deaths around a join: two workers, of which one stands at a point while it or the other one is killed."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from typing import Literal

from haulwright.engine.join import JOIN_BACKSTOP_SECONDS
from proof.support.crowd import wait_until
from proof.support.site import (
    GO_ON,
    HALT_VARIABLE,
    HALTED,
    HOST_VARIABLE,
    NTH_VARIABLE,
    POINT_VARIABLE,
    QUEUES_VARIABLE,
    WORKER,
    Site,
)
from proof.support.workload import APART, PARTS, Workload, may_go

Side = Literal["parent", "child"]
JOIN_SECONDS = 60
JOINED_JOBS = 2
"""The job that joins, and the one that it waits for."""


@dataclass(frozen=True)
class JoinPoint:
    """One place to stand at while somebody dies."""

    side: Side
    """Whose run comes there: that of the job that waits, or of the one that is waited for."""
    at: str
    """The name that its process reports (see `crashing`)."""
    nth: int = 1

    def __str__(self) -> str:
        return f"{self.side} {self.at}{f' ({self.nth})' if self.nth > 1 else ''}"


JOIN_POINTS = [
    *(
        JoinPoint("parent", at)
        for at in (
            "before joins.unfinished",
            "before joins.finished",
            "after joins.finished",
            "before joins.waits_for_me",
            "before joins.forget_others",
            "before joins.wait_for",
            "before joins.bell",
            "before joins.left",
            "before the commit of joins.wait_for",
            "after the commit of joins.wait_for",
            "before jobs.put_back",
            "after jobs.put_back",
            "before the commit of jobs.put_back",
            "after the commit of jobs.put_back",
        )
    ),
    JoinPoint("parent", "after joins.left", 2),
    *(
        JoinPoint("child", at)
        for at in (
            "before jobs.settle",
            "after jobs.settle",
            "before joins.ended",
            "before joins.lock_parents",
            "before joins.wake_parents",
            "before the commit of joins.wake_parents",
            "after the commit of joins.wake_parents",
        )
    ),
]


def die_around(site: Site, work: Workload, point: JoinPoint, victim: Side) -> None:
    """Bring parent and child to where one of them stands at the point, kill one, and let the other go on."""
    work.enqueue(work.joining, range(1))
    processes = _parent_at(site, work, point) if point.side == "parent" else _child_at(site, work, point)
    processes[victim].send_signal(signal.SIGKILL)
    assert processes.pop(victim).wait(JOIN_SECONDS) == -signal.SIGKILL
    for flag in (GO_ON, may_go("joining"), may_go("part")):
        site.raise_flag(flag)
    (survivor,) = processes.values()
    assert survivor.wait(JOIN_SECONDS) == 0, "the one that went on did not end well"


def _parent_at(site: Site, work: Workload, point: JoinPoint) -> dict[Side, subprocess.Popen[bytes]]:
    """A parent that is about to wait for a child that runs."""
    site.raise_flag(APART)
    parent = _spawn(site, "parent", point)
    wait_until(lambda: len(work.diary.of("enqueue.ok")) == JOINED_JOBS)
    child = _spawn(site, "child")
    wait_until(lambda: len(work.diary.of("run.begin")) == JOINED_JOBS)
    site.raise_flag(may_go("joining"))
    wait_until(lambda: site.has_flag(HALTED))
    return {"parent": parent, "child": child}


def _child_at(site: Site, work: Workload, point: JoinPoint) -> dict[Side, subprocess.Popen[bytes]]:
    """A child that ends while its parent, which waited for it, has come back by itself and runs."""
    assert _spawn(site, "parent").wait(JOIN_SECONDS) == 0, "the parent did not go to wait"
    site.raise_flag(APART)
    site.raise_flag(may_go("part"))
    site.clock.advance(JOIN_BACKSTOP_SECONDS + 1)
    parent = _spawn(site, "parent")
    wait_until(lambda: len(work.diary.of("run.begin")) == JOINED_JOBS)
    child = _spawn(site, "child", point)
    wait_until(lambda: site.has_flag(HALTED))
    return {"parent": parent, "child": child}


def _spawn(site: Site, side: Side, point: JoinPoint | None = None) -> subprocess.Popen[bytes]:
    """A worker for one side, on a host of its own: no other can see its death before its lease is over."""
    words = {HOST_VARIABLE: f"host of the {side}", QUEUES_VARIABLE: "default" if side == "parent" else PARTS}
    if point is not None:
        words |= {POINT_VARIABLE: point.at, NTH_VARIABLE: str(point.nth), HALT_VARIABLE: "1"}
    return site.spawn(WORKER, "work", **words)

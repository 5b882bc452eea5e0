"""A job that two workers hold at once, each under a claim that it was told of: the older one was never replicated."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from haulwright import Context, LeaseLost, Retry
from haulwright.client.task import Task
from proof.clusters.cluster import Cluster
from proof.faults.crew import Crew, is_drained, until
from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts
from proof.support.workload import Workload

APP = "proof.clusters.app:app"


class Claims:
    """A task whose runs wait for a flag of their process, and then write under their lease."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self.held: Task[..., int] = work.app.task(name="held", retry=Retry(5, base="1 s", jitter=0))(self._hold)

    def _hold(self, ctx: Context, number: int) -> int:
        with self._work._witnessed(ctx):
            self._work.wait_for(go(os.getpid()))
            try:
                ctx.commit("save", self._work._save, number)
            except LeaseLost:
                self._tell(ctx, accepted=False)
                raise
            self._tell(ctx, accepted=True)
            return number

    def _tell(self, ctx: Context, *, accepted: bool) -> None:
        self._work.diary.write("write", ctx.job.id, ctx.job.fence, door="ctx", verb="commit", accepted=accepted)


@dataclass(frozen=True)
class MissedClaim:
    """How the two runs fared."""

    first: bool
    """Whether the write of the run was accepted whose claim is not in the history that survived."""
    second: bool
    """The same of the run whose claim is."""
    fences: list[int]
    verdict: Verdict

    def __str__(self) -> str:
        ends = ["accepted" if accepted else "refused" for accepted in (self.first, self.second)]
        return f"fences {self.fences}; the first claim's commit was {ends[0]}, the second's {ends[1]}; {self.verdict}"


def go(pid: int) -> str:
    """The flag that lets the run in this process go on."""
    return f"process {pid} may go"


def miss_a_claim(cluster: Cluster, work: Workload, crew: Crew) -> MissedClaim:
    """Let a worker claim a job, kill the leader before others have heard of it, and let another worker claim it."""
    leader = cluster.require_leader()
    work.enqueue(Claims(work).held, range(1))
    cluster.wait_until_replayed()
    with cluster.sending_nothing(leader):
        (first,) = crew.start(1)
        until("the first worker runs it", _are(work, "run.begin", 1))
        first.process.send_signal(signal.SIGSTOP)
        leader.kill()
    cluster.wait_for_another(leader)
    (second,) = crew.start(1)
    until("the second worker runs it", _are(work, "run.begin", 2))
    first.process.send_signal(signal.SIGCONT)
    for tries, member in enumerate((first, second), 1):
        work.site.raise_flag(go(member.pid))
        until("it has tried to write", _are(work, "write", tries))
    until("all jobs are finished", lambda: is_drained(work.app.store))
    crew.stop()
    accepted = {entry.pid: bool(entry.more["accepted"]) for entry in work.diary.of("write")}
    fences = [entry.fence or 0 for entry in work.diary.of("run.begin")]
    verdict = check(Evidence(Facts.read(work.app.store), work.diary.read(), work.outside.read()))
    return MissedClaim(accepted[first.pid], accepted[second.pid], fences, verdict)


def _are(work: Workload, event: str, count: int) -> Callable[[], bool]:
    return lambda: len(work.diary.of(event)) >= count

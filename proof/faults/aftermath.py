"""What is left when a fault is over: everything finished, nothing repeated, no attempt burnt, and the log says why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from proof.faults.crew import Crew
from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts, JobFact
from proof.support.workload import Workload

EXPLAINED = {"faltering": 2}
"""Attempts that the tasks themselves account for; every other one succeeds in its first."""
RUN_ONCE = ("note", "holding", "brief")
"""Tasks without a call that could fail: whatever happens around them, their function runs once."""


@dataclass(frozen=True)
class Aftermath:
    """The state after a fault."""

    jobs: list[JobFact]
    verdict: Verdict
    runs: Counter[str]
    strays: list[str]

    @property
    def unfinished(self) -> list[JobFact]:
        """Jobs without the end that they should have."""
        return [job for job in self.jobs if job.state != "succeeded"]

    @property
    def burnt(self) -> list[JobFact]:
        """Jobs that paid for what was not their fault."""
        return [job for job in self.jobs if job.attempts != EXPLAINED.get(job.task, 1) or job.losses]

    @property
    def repeated(self) -> list[str]:
        """Jobs whose function ran again although it never failed."""
        return [job.id for job in self.jobs if job.task in RUN_ONCE and self.runs[job.id] != 1]

    @property
    def harm(self) -> list[str]:
        """Everything that a fault around the workers cost beyond time; empty is what a proof wants to see."""
        unfinished = [f"unfinished: {job}" for job in self.unfinished]
        burnt = [f"burnt: {job}" for job in self.burnt]
        repeated = [f"run {self.runs[job]} times: {job}" for job in self.repeated]
        return [*self.strays, *self.verdict.wrong, *unfinished, *burnt, *repeated]

    @property
    def deferrals(self) -> int:
        """How often a job was put off without burning an attempt."""
        return sum(job.deferrals for job in self.jobs)

    def __str__(self) -> str:
        told = f"burnt {len(self.burnt)}, run again {len(self.repeated)}, put off {self.deferrals}"
        return f"{len(self.jobs)} jobs: {self.verdict}, {told}"


def aftermath(work: Workload, crew: Crew) -> Aftermath:
    """Look at everything once the workers are gone."""
    facts, diary = Facts.read(work.app.store), work.diary.read()
    runs = Counter(str(entry.job) for entry in diary if entry.event == "run.begin")
    return Aftermath(facts.jobs, check(Evidence(facts, diary, work.outside.read())), runs, crew.strays())

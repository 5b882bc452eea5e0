"""Fail-overs under load: a client enqueues, workers work, and leaders are killed or relieved one after the other."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from proof.clusters.client import LOAD_ENDS
from proof.clusters.cluster import Cluster
from proof.clusters.node import Node
from proof.faults.aftermath import Aftermath, aftermath
from proof.faults.crew import Crew, Member, is_drained, until
from proof.faults.hazards import GO, Hazards
from proof.support.diary import Entry
from proof.support.site import Site
from proof.support.workload import Workload

CLIENT = "proof.clusters.client"
WORKERS = 2
HELD = 2
"""Jobs that are in hand from the first fail-over to the last, with leases that run out during each."""
LOAD = 60
"""How many more jobs are acknowledged before the next fail-over begins."""
CLIENT_SECONDS = 60
DRAIN_SECONDS = 150.0
LONG_SECONDS = 1.0
JOBS_OF_A_STAY = 20
TROUBLE = "the database is in trouble"
TROUBLES = 3
"""How many it tells of a node that follows before that leads again: not the ones of the change itself."""

FailOver = Callable[[], object]


@dataclass
class Campaign:
    """How it went."""

    work: Workload
    crew: Crew
    ways: Counter[str] = field(default_factory=Counter)
    """How often a leader was killed, and how often it was relieved."""
    deaths: dict[int, str] = field(default_factory=dict)
    """Workers that ended by themselves, and what they said last."""
    drained: bool = False
    seconds: float = 0.0
    left: Aftermath = field(init=False)

    @property
    def acknowledged(self) -> int:
        """How many jobs the client was told of."""
        return len(_acknowledged(self.work))

    @property
    def misinformed(self) -> list[str]:
        """Jobs that are there although the client was told that nothing was written."""
        denied = {entry.job for entry in self.work.diary.of("refused") if not entry.more["unknown"]}
        return [job for job in self.left.verdict.recovered if job in denied]

    @property
    def pauses(self) -> list[float]:
        """How long the client got nothing through, each time that this was long."""
        moments = [entry.more["at"] for entry in _acknowledged(self.work)]
        return [later - earlier for earlier, later in pairwise(moments) if later - earlier > LONG_SECONDS]

    @property
    def doubled(self) -> dict[str, int]:
        """What happened twice, by its kind: a job that ran twice under one fence, an effect, a commit."""
        kinds = Counter(what.split()[0] for what in self.left.verdict.duplicated)
        return {kind: kinds[kind] for kind in ("job", "effect", "commit")}

    @property
    def strays(self) -> list[str]:
        """Errors that reached the client, or a log, in the words of somebody else."""
        return [*(entry.more["kind"] for entry in self.work.diary.of("stray")), *self.left.strays]

    @property
    def harm(self) -> list[str]:
        """Everything that a fail-over may not cost."""
        ends = [*self.deaths.values(), *(f"stray: {stray}" for stray in self.strays)]
        stuck = [] if self.drained else [f"after {DRAIN_SECONDS:g} s there were still active jobs"]
        unfinished = [f"unfinished: {job}" for job in self.left.unfinished]
        misinformed = [f"denied, and yet enqueued: {job}" for job in self.misinformed]
        return [*self.left.verdict.wrong, *stuck, *unfinished, *misinformed, *ends]

    def __str__(self) -> str:
        ways = ", ".join(f"{times} {way}" for way, times in self.ways.items())
        verdict, pauses = self.left.verdict, [round(pause, 1) for pause in self.pauses]
        refused = Counter(str(entry.more["unknown"]) for entry in self.work.diary.of("refused"))
        return (
            f"{ways} in {self.seconds:.0f} s; {self.acknowledged} acknowledged, "
            f"{refused['False']} refused ({len(self.misinformed)} of them were enqueued), "
            f"{refused['True']} unknown; {verdict}; "
            f"doubled {self.doubled}, lost leases {sum(job.losses for job in self.left.jobs)}; "
            f"workers ended {len(self.deaths)}, strays {len(self.strays)}; pauses of the client {pauses} s"
        )


def fail_over(work: Workload, crew: Crew, ways: dict[str, FailOver], cluster: Cluster, times: int) -> Campaign:
    """Let leaders go one after the other, in each way in turn, and see what is left when the load is over."""
    campaign, began = Campaign(work, crew), time.monotonic()
    work.enqueue(Hazards(work).brief, range(HELD))
    with _client(work.site) as client:
        crew.start(WORKERS)
        for number in range(times):
            until("the load goes on", partial(_has_acknowledged, work, campaign.acknowledged + LOAD))
            way = list(ways)[number % len(ways)]
            ways[way]()
            campaign.ways[way] += 1
            cluster.heal()
            replace_dead(crew, campaign.deaths)
        until("the load goes on", partial(_has_acknowledged, work, campaign.acknowledged + LOAD))
        work.site.raise_flag(LOAD_ENDS)
        assert client.wait(CLIENT_SECONDS) == 0, "the client did not end well"
    work.site.raise_flag(GO)
    campaign.drained = _is_drained_in_time(work, crew, campaign.deaths)
    crew.stop()
    campaign.left = aftermath(work, crew)
    campaign.seconds = time.monotonic() - began
    return campaign


@dataclass
class Stay:
    """How workers fared that know one node, while that node followed another."""

    deaths: dict[int, str] = field(default_factory=dict)
    troubles: int = 0
    drained: bool = False

    def __str__(self) -> str:
        return (
            f"{self.troubles} troubles told, drained: {self.drained}, workers ended: {list(self.deaths.values()) or 0}"
        )


def stay_with(node: Node, cluster: Cluster, work: Workload, crew: Crew) -> Stay:
    """Let a worker work at the leader's address, relieve the leader, and let it lead again."""
    stay = Stay()
    work.enqueue(work.note, range(JOBS_OF_A_STAY))
    (member,) = crew.start(1)
    until("the first jobs are finished", lambda: is_drained(work.app.store))
    cluster.switch_over()
    work.enqueue(work.note, range(JOBS_OF_A_STAY))
    cluster.heal()
    before = len(crew.told(TROUBLE))
    until("it meets the node that follows", lambda: _has_met(member, crew, before + TROUBLES))
    cluster.switch_over(to=node)
    cluster.heal()
    if member.process.poll() is None:
        stay.drained = _is_drained_in_time(work, crew, stay.deaths)
    else:
        stay.deaths[member.pid] = _death_of(member)
    stay.troubles = len(crew.told(TROUBLE))
    crew.stop()
    return stay


def _has_met(member: Member, crew: Crew, troubles: int) -> bool:
    """Whether a worker has ended, or told so many troubles and lives."""
    return member.process.poll() is not None or len(crew.told(TROUBLE)) >= troubles


def replace_dead(crew: Crew, deaths: dict[int, str]) -> None:
    """Start a worker for each that ended by itself, as whoever supervises them would, and remember what it said."""
    for member in list(crew.members):
        if member.process.poll() is not None and member.pid not in deaths:
            deaths[member.pid] = _death_of(member)
            crew.start(1)


def _death_of(member: Member) -> str:
    return f"a worker ended with {member.process.poll()}: {' | '.join(member.last_words())}"


def _has_acknowledged(work: Workload, count: int) -> bool:
    return len(_acknowledged(work)) >= count


def _acknowledged(work: Workload) -> list[Entry]:
    """What the client was told of; jobs that the proof itself enqueued have no time."""
    return [entry for entry in work.diary.of("enqueue.ok") if "at" in entry.more]


def _is_drained_in_time(work: Workload, crew: Crew, deaths: dict[int, str]) -> bool:
    end = time.monotonic() + DRAIN_SECONDS
    while not is_drained(work.app.store):
        if time.monotonic() > end:
            return False
        replace_dead(crew, deaths)
        time.sleep(LONG_SECONDS)
    return True


@contextmanager
def _client(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    client = site.spawn(CLIENT)
    try:
        yield client
    finally:
        client.kill()
        client.wait()

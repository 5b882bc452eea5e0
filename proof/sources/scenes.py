"""What a fleet goes through before one source: kills, an outage, one 429, and a line of thousands."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from haulwright import events
from haulwright.client.task import Task
from haulwright.clock import SECOND
from proof.faults.crew import is_drained, until
from proof.sources.fetching import Fetching
from proof.sources.fleet import Fleet
from proof.sources.grants import watch_grants
from proof.sources.outside import Outside, Seen
from proof.sources.reckoning import Reckoning, at_once, closings, reckon
from proof.support.facts import Facts
from proof.support.site import Site

ON_THE_WAY_SECONDS = 0.5
"""What was sent before the gate closed may arrive until then: a right younger than 0.1 s, and its travel."""
ROW_SECONDS = 0.05
"""Who waits for the row of the source has the time at which it began to wait: it may lie before the opening it sees."""
PATIENCE_SECONDS = 400.0


@dataclass(frozen=True)
class Scene:
    """A source, the world behind it, and the workers before it."""

    site: Site
    outside: Outside
    fetching: Fetching
    fleet: Fleet

    def enqueue_mixed(self, jobs: int) -> None:
        """Jobs whose claim asks the gate and jobs whose run does, in turn."""
        for _ in range(10):
            self.fetching.enqueue(self.fetching.fetch, jobs // 20)
            self.fetching.enqueue(self.fetching.ask, jobs // 20)

    def told(self, name: str) -> list[tuple[float, dict[str, Any]]]:
        """The events of the gate with this name: when, and what they say."""
        return [(at, data) for told, at, data in closings(self.fetching.app.store) if told == name]

    def drain(self, workers: int) -> Reckoning:
        """Wait until all is done, stop the workers, and ask all witnesses."""
        store = self.fetching.app.store
        until("all jobs are finished", lambda: is_drained(store), PATIENCE_SECONDS)
        assert self.fleet.stop().count(0) == workers
        return reckon(self.fetching, self.fleet, self.outside)


@contextmanager
def staged(
    site: Site, *, takes_seconds: float = 0.0, slots: int = 4, poll: str = "0.2 s", **figures: Any
) -> Iterator[Scene]:
    """A scene whose source allows this, and whose server takes so long over a request."""
    options = {"concurrency": str(slots), "poll-interval": poll}
    with (
        closing(site),
        closing(Outside(site, takes_seconds=takes_seconds)) as outside,
        closing(Fetching.prepare(site, outside.url, **figures)) as fetching,
        Fleet(site, **options) as fleet,
    ):
        watch_grants(fetching.app.store)
        yield Scene(site, outside, fetching, fleet)


def strike(scene: Scene, *, jobs: int, workers: int, kills: int, every_seconds: float) -> Reckoning:
    """Kill one worker after the other while they drain, and replace each."""
    scene.enqueue_mixed(jobs)
    scene.fleet.start(workers)
    began = time.monotonic()
    for number in range(1, kills + 1):
        until("the next kill is due", partial(_has_come, began + number * every_seconds))
        scene.fleet.replace_oldest()
    return scene.drain(workers)


def _has_come(moment: float) -> bool:
    return time.monotonic() >= moment


@dataclass(frozen=True)
class Outage:
    """How it went with a server that was down for a while."""

    left: Reckoning
    cool_downs: list[float]
    """How long the breaker stayed open each time, as its events tell."""
    recovery_seconds: float
    """From the mending of the server to the closing of the breaker."""
    granted: int
    """How many got through while the breaker was open, by the clock of the database."""
    probes: list[Seen]
    """What the server saw meanwhile, without what was on its way to it when the breaker opened."""

    @property
    def probes_at_once(self) -> int:
        """How many of them were under way at once."""
        return at_once([(probe.came, probe.went) for probe in self.probes])

    def __str__(self) -> str:
        return (
            f"cool-downs of {self.cool_downs} s, {self.granted} probes granted, {len(self.probes)} seen, "
            f"{self.probes_at_once} at once, "
            f"recovered {self.recovery_seconds:.1f} s after the mending; {self.left}"
        )


def outage(scene: Scene, *, jobs: int, workers: int, openings: int, **how: Any) -> Outage:
    """Let the server fail from the middle of a drain on until so many openings of the breaker, and then mend it."""
    scene.fetching.enqueue(scene.fetching.fetch, jobs)
    scene.fleet.start(workers)
    until("a part is done", lambda: len(scene.outside.requests()) >= jobs // 10)
    scene.outside.break_down(**how)
    until("the breaker gave up again and again", lambda: len(scene.told(events.SOURCE_BREAKER_OPENED)) >= openings)
    scene.outside.mend()
    mended = time.time()
    left = scene.drain(workers)
    opened = scene.told(events.SOURCE_BREAKER_OPENED)
    closed, _ = scene.told(events.SOURCE_BREAKER_CLOSED)[-1]
    since = opened[0][0]
    granted = [at for at in left.grants.asked_us if since < at / SECOND < closed - ROW_SECONDS]
    probes = [one for one in left.requests if since + ON_THE_WAY_SECONDS < one.came and one.went <= closed]
    cool_downs = [round(data["seconds"], 1) for _, data in opened]
    return Outage(left, cool_downs, closed - mended, len(granted), probes)


@dataclass(frozen=True)
class Parked:
    """How it went with a server that asked for patience."""

    left: Reckoning
    seconds: float
    """What it asked for."""
    disturbed: list[float]
    """Requests that came nevertheless, in seconds after the gate heard of it."""
    before: int
    """Requests that were there when it heard, or on their way."""

    def __str__(self) -> str:
        return f"{self.before} requests, then none for {self.seconds:g} s but {len(self.disturbed)}; {self.left}"


def too_many(scene: Scene, *, jobs: int, workers: int, after: int, retry_after: float) -> Parked:
    """Let one request in the middle of a drain be answered with 429 and a time to come back."""
    scene.outside.break_down("rate_limit", times=1, skip=after, retry_after=retry_after)
    scene.fetching.enqueue(scene.fetching.fetch, jobs)
    scene.fleet.start(workers)
    left = scene.drain(workers)
    ((parked, data),) = scene.told(events.SOURCE_PARKED)
    later = [came - parked for came in left.arrivals]
    disturbed = [wait for wait in later if ON_THE_WAY_SECONDS < wait < data["seconds"]]
    return Parked(left, data["seconds"], disturbed, sum(wait <= ON_THE_WAY_SECONDS for wait in later))


def advance_until_drained(scene: Scene, step_seconds: float, *, also: Callable[[], object] = lambda: None) -> None:
    """Move the clock of the site by small steps, each once nothing is due and nothing runs."""
    store = scene.fetching.app.store

    def is_over() -> bool:
        counts = store.queues.counts()
        if not any(queue.due + queue.running for queue in counts):
            also()
            scene.site.clock.advance(step_seconds)
        return not any(queue.due + queue.parked + queue.running for queue in counts)

    until("all jobs are finished", is_over, PATIENCE_SECONDS)


def stand_in_line(scene: Scene, task: Task[..., int], *, jobs: int, workers: int) -> Counter[int]:
    """Drain a long line by a clock of our own, and return how many jobs were claimed how often."""
    scene.fetching.enqueue(task, jobs)
    scene.fleet.start(workers)
    advance_until_drained(scene, 1.0)
    assert scene.fleet.stop() == [0] * workers
    facts = Facts.read(scene.fetching.app.store)
    assert {job.state for job in facts.jobs} == {"succeeded"}
    return Counter(job.fence for job in facts.jobs)

"""What is left when a fleet is done: what the server saw, what the gate granted, and what became of the jobs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from haulwright.clock import SECOND
from haulwright.sources.governor import FRESH_SECONDS
from haulwright.stores.store import Store
from proof.sources.fetching import Fetching
from proof.sources.fleet import Death, Fleet
from proof.sources.grants import Grants, busiest, crowd_of, read_grants
from proof.sources.outside import Outside, Seen
from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts, JobFact

TRAVEL_SECONDS = 1.0
"""What a request may take from our gate to the server's door on a busy machine."""
LATE_SECONDS = FRESH_SECONDS + TRAVEL_SECONDS
"""How long after its beginning a grant may be used, as the server sees it."""


@dataclass(frozen=True)
class Reckoning:
    """Everything that three witnesses say: the server, the gate and the tables."""

    requests: list[Seen]
    grants: Grants
    jobs: list[JobFact]
    verdict: Verdict
    deaths: list[Death]
    strays: list[str]

    @property
    def arrivals(self) -> list[float]:
        """When requests came, in order."""
        return [one.came for one in self.requests]

    @property
    def early(self) -> list[float]:
        """Requests before their grants: at no moment may more have come than were granted by then."""
        granted = [start_us / SECOND for start_us in self.grants.starts_us[: len(self.requests)]]
        missing = [float("inf")] * (len(self.requests) - len(granted))
        pairs = zip(self.arrivals, [*granted, *missing], strict=True)
        return [came for came, start in pairs if came < start]

    @property
    def crowd(self) -> float:
        """The most requests beyond what the rate admits, over all windows of the server's time."""
        return crowd_of([round(came * SECOND) for came in self.arrivals], self.grants.interval_us)

    @property
    def crowd_allowed(self) -> float:
        """The burst, and what grants that are used late can add: those of `LATE_SECONDS` come in one window more."""
        return self.grants.burst + LATE_SECONDS * SECOND / self.grants.interval_us

    @property
    def most_at_once(self) -> int:
        """The most requests that were under way at once."""
        died = {death.pid: death.at for death in self.deaths}
        return at_once([(one.came, min(one.went, died.get(one.sender, one.went))) for one in self.requests])

    @property
    def unfinished(self) -> list[JobFact]:
        """Jobs without the end that they should have."""
        return [job for job in self.jobs if job.state != "succeeded"]

    @property
    def burnt(self) -> list[JobFact]:
        """Jobs that paid attempts which no request of theirs and no death explains."""
        asked = Counter(one.job for one in self.requests)
        return [job for job in self.jobs if job.attempts > max(1, asked[job.id] + job.losses)]

    @property
    def harm(self) -> list[str]:
        """Whatever breaks a promise of the gate or of the queue; empty is what a proof wants to see."""
        grants = self.grants
        named: dict[str, Sequence[object]] = {
            "unfinished": self.unfinished,
            "burnt": self.burnt,
            "early": self.early,
            "grants over the rate": [grants.crowd] if grants.crowd > grants.burst else [],
            "requests over the rate": [self.crowd] if self.crowd > self.crowd_allowed else [],
            "grants unseen": [] if len(grants.starts_us) == grants.tickets else [grants.tickets],
        }
        told = [f"{name}: {what}" for name, found in named.items() for what in found]
        return [*self.strays, *self.verdict.wrong, *told]

    def __str__(self) -> str:
        windows = ", ".join(f"{busiest(self.arrivals, seconds)} in {seconds} s" for seconds in (1, 10, 60))
        fences = Counter(job.fence for job in self.jobs)
        losses = sum(job.losses for job in self.jobs)
        return (
            f"{len(self.jobs)} jobs, {len(self.requests)} requests on {len(self.grants.starts_us)} grants, "
            f"busiest {windows}, "
            f"crowd of grants {self.grants.crowd:.2f} and of requests {self.crowd:.2f} (burst {self.grants.burst}), "
            f"at once {self.most_at_once}, {len(self.deaths)} kills, {losses} leases lost, "
            f"claims {dict(sorted(fences.items()))}; {self.verdict}"
        )


def reckon(fetching: Fetching, fleet: Fleet, outside: Outside) -> Reckoning:
    """Ask all witnesses once the workers are gone."""
    store = fetching.app.store
    facts = Facts.read(store)
    return Reckoning(
        requests=outside.requests(),
        grants=read_grants(store),
        jobs=facts.jobs,
        verdict=check(Evidence(facts, fetching.diary.read())),
        deaths=fleet.deaths,
        strays=fleet.strays(),
    )


def at_once(spans: Sequence[tuple[float, float]]) -> int:
    """How many of these spans overlap at most; one that ends when another begins does not."""
    steps = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    return max(accumulate(step for _, step in steps), default=0)


def closings(store: Store) -> list[tuple[str, float, dict[str, Any]]]:
    """What the events say of the gate: their name, their time, and what they carry."""
    rows = store.database.read(
        lambda connection: connection.execute(
            "select name, at, data from haulwright_events where name like 'source.%' order by seq"
        )
    )
    return [(name, at / SECOND, json.loads(data)) for name, at, data in rows]

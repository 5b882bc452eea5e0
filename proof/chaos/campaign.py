"""A campaign: a load, two hands that strike at the same time, then peace; and what is left of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT
from proof.chaos.blows import Blows, Hand, Strike
from proof.chaos.client import LOAD_ENDS
from proof.chaos.fleet import Fleet
from proof.chaos.load import Load
from proof.chaos.places import Place
from proof.chaos.verdict import Findings, Rest, judge
from proof.faults.crew import Crew, is_drained
from proof.support.site import Site

APP = "proof.chaos.app:app"
WORKERS = 3
CLIENTS = 2
PEACE_SECONDS = 300.0
"""How long everything that is left may take once nothing strikes any more."""
PEACE_AFTER_PAUSE_SECONDS = 60.0
CALM_SECONDS = 3.0
"""The load begins and ends in peace."""
TEND_SECONDS = 0.1


@dataclass(frozen=True)
class Plan:
    """What is struck, and how often."""

    kinds: frozenset[str] | None = None
    """The faults, by name; None is all of them."""
    spared: int = 0
    """The workers of so many places live from the beginning to the end."""
    pause_seconds: tuple[float, float] = (1.0, 8.0)
    """Between two blows of one hand."""
    watch: Callable[[Fleet], None] = lambda _fleet: None
    """Called again and again while the load goes on."""

    def pick(self, strikes: dict[str, Strike]) -> dict[str, Strike]:
        """Those of the faults that are wanted."""
        return {kind: strike for kind, strike in strikes.items() if self.kinds is None or kind in self.kinds}


@dataclass
class Chaos:
    """One campaign at one place."""

    place: Place
    folder: Path
    seed: int
    plan: Plan = field(default_factory=Plan)

    def run(self, minutes: float) -> Findings:
        """Strike for so long, then let the workers finish, and judge."""
        site = Site.prepare(self.place.url, self.folder, clock=False)
        with closing(site), closing(Load(site)) as load, ExitStack() as stack:
            load.prepare()
            crews = [
                stack.enter_context(Crew(site, app=APP, url=url, label=f"worker-{place}"))
                for place, url in enumerate(self.place.worker_urls)
            ]
            fleet = Fleet(site, crews, self.place.client_urls, self.seed, self.plan.spared)
            blows, began = Blows(), time.monotonic()
            fleet.start()
            self._strike(fleet, blows, minutes * 60)
            drained = _come_to_rest(fleet, load)
            codes = [code for crew in crews for code in crew.stop()[-1:]]
            return judge(load, fleet, blows, Rest(drained, codes, time.monotonic() - began))

    def _strike(self, fleet: Fleet, blows: Blows, seconds: float) -> None:
        self._tend_for(fleet, CALM_SECONDS)
        outages = self.place.strikes(fleet) | fleet.calm_strikes()
        hands = [
            Hand(name, kinds, Random(self.seed + number), blows, self.plan.pause_seconds)
            for number, (name, strikes) in enumerate({"processes": fleet.strikes(), "outages": outages}.items())
            if (kinds := self.plan.pick(strikes))
        ]
        for hand in hands:
            hand.start()
        self._tend_for(fleet, seconds)
        for hand in hands:
            hand.stop()
        self._tend_for(fleet, CALM_SECONDS)

    def _tend_for(self, fleet: Fleet, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            fleet.tend()
            self.plan.watch(fleet)
            time.sleep(TEND_SECONDS)


def _come_to_rest(fleet: Fleet, load: Load) -> bool:
    """End the load, and wait until everything is done; False where that takes too long.

    A job that pauses is waited for, also one that the last blow made pause when peace had begun.
    """
    load.site.raise_flag(LOAD_ENDS)
    end = time.monotonic() + PEACE_SECONDS
    while time.monotonic() < end:
        fleet.tend_workers()
        if all(client.poll() is not None for client in fleet.clients) and is_drained(load.app.store):
            return True
        if (pause := _longest_pause(load)) > 0:
            end = max(end, time.monotonic() + pause + PEACE_AFTER_PAUSE_SECONDS)
        time.sleep(TEND_SECONDS)
    return False


def _longest_pause(load: Load) -> float:
    """How long the last of the jobs has yet to wait: one that lost its lease six times pauses for eight minutes."""
    store = load.app.store
    waiting = store.listing.page(JobFilter(state=State.QUEUED), limit=PAGE_LIMIT).jobs
    return max([0, *(job.run_at - store.now() for job in waiting)]) / SECOND

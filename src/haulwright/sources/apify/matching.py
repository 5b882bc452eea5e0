"""Knowing a run again: Apify takes no idempotency key, so a run is found by what it was started with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical
from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from haulwright.sources.apify.client import Apify
    from haulwright.sources.apify.runs import ActorRun

MARKER_FIELD: Final = "_haulwright"
SKEW: Final = timedelta(seconds=30)
"""How far our clock and Apify's may be apart."""
PAGE_RUNS: Final = 100
MOST_RUNS: Final = 1_000


def input_hash(input: Mapping[str, Any]) -> str:  # noqa: A002  Apify's own word
    """The hash of an input, whatever the order of its fields."""
    return digest(canonical(dict(input), root="input"))


class Sought:
    """A run that may have begun, with what has been seen of others so far, so that no input is read twice."""

    def __init__(self, since: datetime, marker: str | None, input: Mapping[str, Any] | None) -> None:  # noqa: A002
        if marker is None and input is None:
            raise InvalidValue("marker", marker, "and no input: a run is known by one of them")
        if since.tzinfo is None:
            raise InvalidValue("since", since, "has no time zone")
        self._since = since - SKEW
        self._marker = marker
        self._fields = None if input is None else {**input}
        self._hash = None if input is None else input_hash(input)
        self._others: set[str] = set()

    async def look(self, apify: Apify, actor: str) -> ActorRun | None:
        """Walk over the runs since then, the newest first, and return the one that fits."""
        for offset in range(0, MOST_RUNS, PAGE_RUNS):
            runs = await apify.aruns(actor, since=self._since, offset=offset, limit=PAGE_RUNS)
            for run in runs:
                if run.id not in self._others and await self._fits(apify, run):
                    return run
            if len(runs) < PAGE_RUNS:
                return None
        return None

    async def _fits(self, apify: Apify, run: ActorRun) -> bool:
        stored = await apify.arun_input(run)
        if stored is None:  # not there yet: looked at again next time
            return False
        if isinstance(stored, dict) and self._same(stored):
            return True
        self._others.add(run.id)
        return False

    def _same(self, stored: dict[str, Any]) -> bool:
        """Only what was sent is compared: Apify adds the defaults of the actor's schema to it."""
        if self._marker is not None and stored.get(MARKER_FIELD) != self._marker:
            return False
        if self._fields is None:
            return True
        return input_hash({name: stored[name] for name in self._fields if name in stored}) == self._hash

"""Collecting: from an intake and a source to price points and the valuation that rests on them, in one transaction."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from haulwright import Context, Permanent, Skip, Source, Tx
from haulwright.application import Tables
from haulwright.apps.prices.answer_cache import Answer, AnswerCache
from haulwright.apps.prices.intakes import Intake, Intakes
from haulwright.apps.prices.pages import PAUSE_SECONDS, PageRead, RobotCheck, day_of, fetch, read
from haulwright.apps.prices.points import Observed
from haulwright.apps.prices.query import cache_key, values
from haulwright.apps.prices.rules import Rules
from haulwright.apps.prices.sources import PriceSource, PriceSources
from haulwright.apps.prices.valuations import record

MOST_NOTES: Final = 20


@dataclass(frozen=True, slots=True)
class Collected:
    """What one collection came to."""

    pages: int
    offers: int
    """Listings that could be read."""
    points: int
    """Of them, new observations."""
    changed: int
    """Observations of before that a stronger or newer one replaced."""
    quarantined: int
    """Items that could not be used; the quarantine has their reasons."""
    valuation: int | None
    """The version of the valuation that it led to; None where that says what it said before."""
    notes: list[str]
    """What was odd about the pages."""


class Collect:
    """The task `prices.collect`."""

    def __init__(self, tables: Tables, intakes: Intakes, sources: PriceSources) -> None:
        self._tables = tables
        self._intakes = intakes
        self._sources = sources

    async def run(self, ctx: Context, intake_id: str, source_id: str, query_params: dict[str, str]) -> Collected | Skip:
        """Read what a source has about an intake, then write all of it at once."""
        intake = await asyncio.to_thread(self._intakes.find, ctx.job.tenant, intake_id)
        source = await asyncio.to_thread(self._sources.find, ctx.job.tenant, source_id)
        if intake is None or source is None:
            return Skip(f"the {'intake' if intake is None else 'source'} is gone")
        pages = await self._pages(ctx, intake, source, query_params)
        seen_at = min(page.seen_at for page in pages)  # a listing is as old as the oldest of its pages
        observed = Observed(
            intake,
            source,
            ctx.job.id,
            day_of(seen_at),
            seen_at,
            [offer for page in pages for offer in page.offers],
            [bad for page in pages for bad in page.bad],
        )
        notes = [f"page {number}: {note}" for number, page in enumerate(pages, 1) for note in page.notes]
        return await ctx.acommit("points", self._write, observed, len(pages), notes[:MOST_NOTES], settle=True)

    async def _pages(
        self, ctx: Context, intake: Intake, source: PriceSource, query_params: dict[str, str]
    ) -> list[PageRead]:
        """The pages of a listing, each read once whatever becomes of the run: what was read is in the ledger.

        So is when it was seen: a run that goes on after midnight writes what the day before has seen. Only where the
        rules changed meanwhile, everything is read anew.
        """
        url: str | None = source.rules.address(values(intake, query_params))
        scope = cache_key(intake, source.source_id, query_params, source.rules.version)
        pages: list[PageRead] = []
        urls: set[str] = set()
        door = self._sources.door(source)
        cache = AnswerCache(ctx.store, source.source_id, scope, door.keep_us)
        async with door.open() as gate:
            for number in range(1, source.rules.max_pages + 1):
                if url is None or url in urls:
                    break
                urls.add(url)
                key = f"page:{number}:{source.revision}"
                page = await ctx.aeffect(
                    "page", self._page, key=key, gate=gate, rules=source.rules, url=url, number=number, cache=cache
                )
                pages.append(page)
                url = page.next_url
        return pages

    async def _page(self, *, gate: Source, rules: Rules, url: str, number: int, cache: AnswerCache) -> PageRead:
        """One page, as it was kept where these rules find something in it; else as the source has it now."""
        cached = await asyncio.to_thread(cache.load, url)
        if cached is not None:
            with suppress(Permanent, RobotCheck):
                page = await read(rules, cached, number)
                if page.offers:  # without any, it may be a page that says why there is no listing
                    gate.note_asked()
                    return page
        reply = await fetch(gate, url, scope=cache.scope)
        answer = Answer(reply, await asyncio.to_thread(cache.store.now))
        try:
            page = await read(rules, answer, number)
        except RobotCheck:
            await asyncio.to_thread(gate.pause, reason="it asked for a person", seconds=PAUSE_SECONDS, actor="prices")
            raise
        await asyncio.to_thread(cache.save, url, answer)
        return page

    def _write(self, tx: Tx, observed: Observed, pages: int, notes: list[str]) -> Collected:
        """All points of a collection, and the valuation that follows from them."""
        new, changed, version = record(self._tables.on(tx), observed)
        return Collected(pages, len(observed.offers), new, changed, len(observed.bad), version, notes)

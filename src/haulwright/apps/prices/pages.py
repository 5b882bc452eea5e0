"""Pages of a source: fetched through its gate, read item by item, and told from one that only wants to see a person."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from haulwright import Permanent, Retryable
from haulwright.apps.prices.answer_cache import Answer
from haulwright.apps.prices.offers import Offer, Unusable, read_offer, storable
from haulwright.apps.prices.rules import Rules
from haulwright.clock import SECOND, Instant
from haulwright.sources.scrape import Extraction, extract

if TYPE_CHECKING:
    from haulwright import Source
    from haulwright.sources.http import Reply

EXCERPT_CHARS: Final = 300
REASON_CHARS: Final = 500
LOOKED_AT_CHARS: Final = 20_000
"""Of a page without a listing. A check for robots is short."""
PAUSE_SECONDS: Final = 900.0
"""How long a source is left alone that asked whether we are a robot."""

_UNSEEN: Final = re.compile(r"<(script|style|noscript|template)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_CHECK: Final = re.compile(
    r"captcha|robot check|are you (?:a )?(?:human|robot)|(?:verify|confirm)(?: that)? you(?: are|'re)(?: a)? human"
    r"|not a robot|unusual traffic|automated (?:access|requests|queries)|checking your browser|just a moment\.\.\.",
    re.IGNORECASE,
)


class RobotCheck(Retryable):
    """The source wants to see a person first. It is left alone for a while, and asked again."""


@dataclass(frozen=True, slots=True)
class BadOffer:
    """An item that cannot be used, and why."""

    page: int
    place: int
    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class PageRead:
    """What one page gave. Plain values: an effect can record it."""

    offers: list[Offer]
    bad: list[BadOffer]
    next_url: str | None
    notes: list[str]
    seen_at: Instant
    """When the source gave it; one that was kept is as old as it is."""


async def fetch(source: Source, url: str, *, scope: str) -> Reply:
    """One page through the gate, as the source has it now."""
    reply = (await source.aget(url, scope=scope, revalidate=True)).raise_for_status()
    if reply.cache == "stale":
        raise Retryable(f"{_place(reply)} does not answer now, and what is kept of it is old.")
    return reply


async def read(rules: Rules, answer: Answer, number: int) -> PageRead:
    """The offers of a page, off the event loop; an item that is none has its reason."""
    return await asyncio.to_thread(read_page, rules, answer, number)


def read_page(rules: Rules, answer: Answer, number: int) -> PageRead:
    """The same, here and now. Raises RobotCheck where there is no listing but a question."""
    extraction = _extracted(rules, answer.reply)
    bad = [_bad(number, item.index, "; ".join(item.reasons), item.excerpt) for item in extraction.rejected]
    bad_places = {item.place for item in bad}
    places = (place for place in range(len(extraction.records) + len(bad)) if place not in bad_places)
    offers = []
    for place, record in zip(places, extraction.records, strict=True):
        try:
            offers.append(read_offer(rules, record, day_of(answer.at)))
        except Unusable as reason:
            bad.append(_bad(number, place, str(reason), str(record["title"])))
    notes = [storable(note, EXCERPT_CHARS) for note in extraction.warnings]
    return PageRead(offers, sorted(bad, key=lambda item: item.place), extraction.next_url, notes, answer.at)


def _bad(number: int, place: int, reason: str, excerpt: str) -> BadOffer:
    return BadOffer(number, place, storable(reason, REASON_CHARS), storable(excerpt, EXCERPT_CHARS))


def day_of(instant: Instant) -> str:
    """The day of a moment, UTC."""
    return datetime.fromtimestamp(instant / SECOND, UTC).date().isoformat()


def _extracted(rules: Rules, reply: Reply) -> Extraction:
    try:
        extraction = extract(rules.page, reply.body, reply.url, content_type=reply.header("content-type") or None)
    except Permanent:
        if _is_robot_check(reply):
            raise _robot_check(reply) from None
        raise
    if not extraction.records and not extraction.rejected and _is_robot_check(reply):
        raise _robot_check(reply)
    return extraction


def _is_robot_check(reply: Reply) -> bool:
    """Whether the words that a person would see ask for a person."""
    return _CHECK.search(_UNSEEN.sub(" ", reply.text[:LOOKED_AT_CHARS])) is not None


def _robot_check(reply: Reply) -> RobotCheck:
    hint = "Ask less often: lower the rate in the rules of the source."
    return RobotCheck(f"{_place(reply)} answered with a check for robots instead of a listing.", hint=hint)


def _place(reply: Reply) -> str:
    """The address that an answer came from, as an error names it."""
    return reply.url.partition("?")[0]

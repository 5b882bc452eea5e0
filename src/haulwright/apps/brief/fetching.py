"""Reading one feed: ask its host, recognise what is unchanged, take the articles in, and write down how it went."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from haulwright import AuthFailed, Context, Permanent, Retryable, Skip, Tx
from haulwright.application import Tables
from haulwright.apps.brief.articles import CHUNK, IntakeCounts, take_in
from haulwright.apps.brief.entries import ArticleDraft, drafts, fit
from haulwright.apps.brief.feeds import FeedSubscription, FeedSubscriptions
from haulwright.apps.brief.sites import Sites
from haulwright.clock import SECOND, Instant
from haulwright.events import Event
from haulwright.redaction import redact
from haulwright.sources.feeds import FeedLimits, parse_feed
from haulwright.sources.http import Reply

FEED_FAILED: Final = "feed.failed"
NOT_MODIFIED: Final = 304
LIMITS: Final = FeedLimits(size_bytes=16 * 1024 * 1024, entries=5_000)
LEAST_PAUSE_US: Final = 15 * 60 * SECOND
"""After the first failure; it doubles with each one more."""
MOST_PAUSE_US: Final = 24 * 3600 * SECOND
ERROR_CHARS: Final = 500
MOST_WARNINGS: Final = 20
WARNING_CHARS: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FeedFetch:
    """What reading a feed came to: each entry of the body is new, edited, repeated or refused."""

    outcome: Literal["read", "unchanged", "failed"]
    entries: int = 0
    new: int = 0
    edited: int = 0
    repeated: int = 0
    """Known, and as they were; or the same article as another entry."""
    refused: int = 0
    """Nothing says who they are."""
    error: str | None = None

    def plus(self, counts: IntakeCounts) -> FeedFetch:
        """The same with more articles taken in."""
        new, edited = self.new + counts.new, self.edited + counts.edited
        return replace(self, new=new, edited=edited, repeated=self.repeated + counts.repeated)


@dataclass(frozen=True, slots=True)
class Body:
    """What a feed said this time, ready to be written."""

    drafts: list[ArticleDraft]
    read: FeedFetch
    """What is counted before any of them is taken in."""
    columns: dict[str, Any]
    """What the row of the feed says of it."""


class FetchFeeds:
    """The task `brief.fetch`."""

    def __init__(self, tables: Tables, feeds: FeedSubscriptions, sites: Sites) -> None:
        self._tables = tables
        self._feeds = feeds
        self._sites = sites

    async def run(self, ctx: Context, feed_id: str) -> FeedFetch | Skip:
        """Read a feed. One that fails is written down on the feed, which is asked again later; the job has done it."""
        feed = await asyncio.to_thread(self._feeds.find, ctx.job.tenant, feed_id)
        if feed is None or not feed.enabled:
            return Skip(f"the feed {feed_id} is {'disabled' if feed else 'gone'}")
        try:
            reply = await self._ask(feed)
            digest = hashlib.sha256(reply.body).hexdigest()
            if reply.status == NOT_MODIFIED or digest == feed.body_hash:
                return await ctx.acommit(
                    "unchanged", self._write_answered, feed, {}, FeedFetch("unchanged"), settle=True
                )
            body = await asyncio.to_thread(self._read, feed, reply, digest, ctx.store.now)
        except (Permanent, Retryable, AuthFailed) as error:
            message = fit(redact(error.message), ERROR_CHARS)
            return await ctx.acommit("failed", self._write_failed, feed, ctx.job.id, message, settle=True)
        return await self._take_in(ctx, feed, body, digest)

    async def _ask(self, feed: FeedSubscription) -> Reply:
        """Ask for the body, unless it is the one whose articles are all written."""
        validators = {"If-None-Match": feed.etag, "If-Modified-Since": feed.last_modified}
        headers = {name: value for name, value in validators.items() if value}
        async with self._sites.at(feed.url) as source:
            reply = await source.aget(feed.url, headers=headers, own_validators=True)
        return reply if reply.status == NOT_MODIFIED and headers else reply.raise_for_status()

    def _read(self, feed: FeedSubscription, reply: Reply, digest: str, now: Callable[[], Instant]) -> Body:
        """Make articles of a body; refused whole where it is no feed."""
        moment = _EPOCH + timedelta(microseconds=now())
        kind = reply.header("content-type") or None
        try:
            parsed_feed = parse_feed(reply.body, content_type=kind, url=reply.url, now=moment, limits=LIMITS)
        except (ArithmeticError, LookupError, RecursionError, ValueError) as fault:  # what no parser foresaw
            raise Permanent(f"The feed cannot be read: {type(fault).__name__}.") from fault
        notes = dict.fromkeys(
            [*parsed_feed.warnings, *(note for entry in parsed_feed.entries for note in entry.warnings)]
        )
        columns = {
            "body_hash": digest,
            "etag": _header(reply, "etag"),
            "last_modified": _header(reply, "last-modified"),
            "format": parsed_feed.format,
            "warnings": json.dumps([fit(note, WARNING_CHARS) for note in list(notes)[:MOST_WARNINGS]]),
            "rest_us": min((parsed_feed.ttl_seconds or 0) * SECOND, MOST_PAUSE_US),
        }
        articles = drafts(parsed_feed, feed.id, moment)
        repeated = parsed_feed.repeated + len(parsed_feed.entries) - len(articles)
        entries = len(articles) + repeated + parsed_feed.refused
        read = FeedFetch("read", entries, repeated=repeated, refused=parsed_feed.refused)
        return Body(articles, read, columns)

    async def _take_in(self, ctx: Context, feed: FeedSubscription, body: Body, digest: str) -> FeedFetch:
        """Take the articles in, some at a time. Only with the last of them is the body known: until then none is."""
        chunks = [body.drafts[start : start + CHUNK] for start in range(0, len(body.drafts), CHUNK)] or [[]]
        so_far = body.read
        for number, chunk in enumerate(chunks[:-1]):
            part = f"{digest}:{number}"
            counts = await ctx.acommit(f"articles:{part}", self._write_articles, feed, chunk, key=part)
            so_far = so_far.plus(counts)
        return await ctx.acommit("read", self._write_last, feed, chunks[-1], body.columns, so_far, settle=True)

    def _write_articles(self, tx: Tx, feed: FeedSubscription, chunk: list[ArticleDraft]) -> IntakeCounts:
        return take_in(self._tables.on(tx), feed.tenant, feed.id, chunk)

    def _write_last(
        self, tx: Tx, feed: FeedSubscription, chunk: list[ArticleDraft], columns: dict[str, Any], so_far: FeedFetch
    ) -> FeedFetch:
        return self._write_answered(tx, feed, columns, so_far.plus(self._write_articles(tx, feed, chunk)))

    def _write_answered(self, tx: Tx, feed: FeedSubscription, columns: dict[str, Any], result: FeedFetch) -> FeedFetch:
        params = dict.fromkeys(("body_hash", "etag", "last_modified", "format", "warnings", "rest_us")) | columns
        self._tables.on(tx).run("feeds.answered", tenant=feed.tenant, id=feed.id, **params)
        return result

    def _write_failed(self, tx: Tx, feed: FeedSubscription, job_id: str, error: str) -> FeedFetch:
        writing = self._tables.on(tx)
        pauses = {"least_us": LEAST_PAUSE_US, "most_us": MOST_PAUSE_US}
        (streak,) = writing.run("feeds.failed", tenant=feed.tenant, id=feed.id, error=error, **pauses) or [(0,)]
        data = {"feed_id": feed.id, "url": redact(feed.url), "failures": streak[0], "error_message": error}
        writing.record(Event(FEED_FAILED, feed.tenant, job_id, data=data))
        return FeedFetch("failed", error=error)


def _header(reply: Reply, name: str) -> str | None:
    """A header as it can be sent back."""
    return fit(reply.header(name), ERROR_CHARS) or None

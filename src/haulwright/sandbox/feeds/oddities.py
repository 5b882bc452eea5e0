"""Feeds as they should not be, each under a name of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from haulwright.sandbox.exchange import SandboxReply
from haulwright.sandbox.feeds.formats import Channel, rss2
from haulwright.sandbox.feeds.world import WorldArticle

BOMB_LEVELS = 10
BAD_DATES = (
    "Tuesday morning",
    "2026-13-45T99:00:00Z",
    "",
    "Mon, 31 Feb 2026 10:00:00 GMT",
    "31/12/26 8pm",
    "Thu, 01 Jan 2099 00:00:00 GMT",
)
RSS = (("Content-Type", "application/rss+xml"),)


def bomb(_: Channel) -> SandboxReply:
    """A billion laughs."""
    levels = ['<!ENTITY l0 "ha">']
    levels += [f'<!ENTITY l{level} "' + f"&l{level - 1};" * 10 + '">' for level in range(1, BOMB_LEVELS)]
    declared = "\n".join(levels)
    title = f"<title>&l{BOMB_LEVELS - 1};</title>"
    return _xml(f"<!DOCTYPE rss [\n{declared}\n]>\n<rss version='2.0'><channel>{title}</channel></rss>")


def entity(_: Channel) -> SandboxReply:
    """An entity that wants a file of the reader's machine."""
    declared = '<!DOCTYPE rss [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'
    item = "<item><title>&secret;</title><link>https://example.org/1</link></item>"
    return _xml(f"{declared}\n<rss version='2.0'><channel><title>Reader</title>{item}</channel></rss>")


def latin1(channel: Channel) -> SandboxReply:
    """Says UTF-8 and is Latin-1."""
    named = replace(channel, title="Café Zürich Courier")
    return SandboxReply(200, rss2(named).decode().encode("latin-1", "replace"), RSS)


def dates(channel: Channel) -> SandboxReply:
    """Dates that nobody can read, and one that lies in the future."""
    dates = itertools.cycle(BAD_DATES)
    return SandboxReply(200, rss2(replace(channel, date=lambda _: next(dates))), RSS)


def guids(channel: Channel) -> SandboxReply:
    """Ids that change with every fetch, while the articles stay the same."""

    def changing(article: WorldArticle) -> str:
        return f"{channel.link(article)}?session={channel.fetch}"

    return SandboxReply(200, rss2(replace(channel, guid=changing)), RSS)


def same_guid(channel: Channel) -> SandboxReply:
    """One id for all."""
    return SandboxReply(200, rss2(replace(channel, guid=lambda _: "1")), RSS)


def broken(channel: Channel) -> SandboxReply:
    """XML that ends in the middle of an item."""
    whole = rss2(channel)
    return SandboxReply(200, whole[: len(whole) * 2 // 3], RSS)


def page(_: Channel) -> SandboxReply:
    """A page for people, given with the status of a feed."""
    return SandboxReply(
        200, b"<html><body><h1>Please accept our cookies</h1></body></html>", (("Content-Type", "text/html"),)
    )


def _redirect(status: int, target: str) -> Callable[[Channel], SandboxReply]:
    return lambda channel: SandboxReply(status, headers=(("Location", f"{channel.base}/{target}"),))


ODDITIES: dict[str, Callable[[Channel], SandboxReply]] = {
    "bomb": bomb,
    "entity": entity,
    "latin1": latin1,
    "dates": dates,
    "guids": guids,
    "same-guid": same_guid,
    "broken": broken,
    "page": page,
    "moved": _redirect(301, "harbour-times.xml"),
    "elsewhere": _redirect(302, "harbour-times.xml"),
    "loop": _redirect(302, "odd/loop.xml"),
    "gone": lambda _: SandboxReply(410, b"Gone\n"),
}
"""Each under `/feeds/odd/<name>.xml`."""


def _xml(text: str) -> SandboxReply:
    return SandboxReply(200, f'<?xml version="1.0"?>\n{text}\n'.encode(), RSS)

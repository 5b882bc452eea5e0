"""Feeds and articles behind their addresses."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from email.utils import formatdate
from xml.sax.saxutils import escape

from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import SandboxReply, SandboxRequest, json_reply, text_reply
from haulwright.sandbox.feeds import bulk, world
from haulwright.sandbox.feeds.formats import FORMATS, Channel
from haulwright.sandbox.feeds.oddities import ODDITIES
from haulwright.sandbox.feeds.world import PAPERS, WEEK, WorldArticle
from haulwright.sandbox.files.ranges import Validators, not_modified
from haulwright.sandbox.routes import NoRoute, Routes

SHOWN = 40
"""How many entries a feed has at most."""
KEPT_WEEKS = 4
"""How long the page of an article can be found."""


class FeedsSandbox:
    """The papers, as they stand now."""

    def __init__(self, clock: SandboxClock, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._routes = Routes(
            ("GET", "/", lambda request: json_reply({"feeds": [f"{request.base}/{name}.xml" for name in PAPERS]})),
            ("GET", "/articles/{article}", self._page),
            ("GET", "/odd/{name}.xml", self._odd),
            ("GET", "/bulk/{number}.xml", self._bulk),
            ("GET", "/{name}.{ending}", self._feed),
        )
        self.reset()

    def reset(self) -> None:
        """Nothing is withdrawn, and the ids that change begin anew."""
        self._fetches = itertools.count(1)
        self._withdrawn: set[str] = set()
        self._began: float | None = None
        self._build = 0

    def script(self, *, withdraw: str = "", rebuild: bool = False) -> None:
        """Take an article out of its feed; or write all bulk feeds anew, with another title and the same entries."""
        if withdraw:
            self._withdrawn.add(withdraw)
        self._build += rebuild

    def articles(self, start: float, end: float | None = None) -> list[WorldArticle]:
        """Everything that the papers published from start until now (or end), with the event that each is about."""
        return world.articles(self._seed, start, self._clock.now() if end is None else end)

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out."""
        try:
            return self._routes.answer(request)
        except NoRoute as error:
            return text_reply(f"{error}\n", status=405 if error.allowed else 404)

    def _feed(self, request: SandboxRequest, name: str, ending: str) -> SandboxReply:
        if name not in PAPERS or ending not in FORMATS:
            raise NoRoute
        return _written(request, self._channel(request, name), ending)

    def _bulk(self, request: SandboxRequest, number: str) -> SandboxReply:
        if not number.isdecimal() or int(number) > bulk.LARGEST_NUMBER:
            raise NoRoute
        if self._began is None:
            self._began = self._clock.now()
        channel = bulk.channel(self._seed, int(number), request.base, before=self._began, build=self._build)
        return _written(request, channel, "xml")

    def _odd(self, request: SandboxRequest, name: str) -> SandboxReply:
        if name not in ODDITIES:
            raise NoRoute
        return ODDITIES[name](replace(self._channel(request, "open-courier"), fetch=next(self._fetches)))

    def _page(self, _: SandboxRequest, article: str) -> SandboxReply:
        for story in self.articles(self._clock.now() - KEPT_WEEKS * WEEK):
            if story.id == article:
                title = escape(story.title)
                return text_reply(
                    f"<!doctype html><html lang=en><head><title>{title}</title></head><body><article><h1>{title}</h1>"
                    f"<p class=author>{escape(story.author)}</p><p>{escape(story.text)}</p></article></body></html>\n",
                    "text/html",
                )
        raise NoRoute

    def _channel(self, request: SandboxRequest, name: str) -> Channel:
        now = self._clock.now()
        own = [a for a in self.articles(now - WEEK) if a.paper == name and a.id not in self._withdrawn]
        return Channel(PAPERS[name], request.base, name, own[::-1][:SHOWN])


def _written(request: SandboxRequest, channel: Channel, ending: str) -> SandboxReply:
    """A feed in a format, or that it has not changed."""
    write, kind = FORMATS[ending]
    body = write(channel)
    newest = max((article.updated for article in channel.articles), default=0.0)
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    validators = Validators(etag, formatdate(newest, usegmt=True))
    if not_modified(request.headers, validators):
        return SandboxReply(304, headers=validators.headers())
    return SandboxReply(200, body, (("Content-Type", kind), ("Cache-Control", "max-age=60"), *validators.headers()))

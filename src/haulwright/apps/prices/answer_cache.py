"""Answers that could be read, kept for a while: what a source says instead of a listing is not served again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.clock import Instant
from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical
from haulwright.sources.http import Reply
from haulwright.stores.cache import CachedResponse

if TYPE_CHECKING:
    from haulwright.stores.store import Store

KEY_VERSION: Final = 1
"""Part of every key. It grows when what is kept changes its form."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and when the source gave it."""

    reply: Reply
    at: Instant


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """The answers of one source to one question, on the database of the run that asks."""

    store: Store
    source_id: str
    scope: str
    """Whose answers these are, of which source, and to which question: all that tells one answer from another."""
    keep_us: int
    """For how long an answer is served; 0 keeps none."""

    def load(self, url: str) -> Answer | None:
        """What the source answered at this address, where that is not too long ago."""
        response = self.store.cache.load(self._key(url)) if self.keep_us else None
        if response is None or self.store.now() - response.answered_at >= self.keep_us:
            return None
        head = json.loads(response.head)
        headers = {"content-type": head["content_type"]}
        return Answer(Reply(response.status, "GET", head["url"], headers, response.body, "hit"), response.answered_at)

    def save(self, url: str, answer: Answer) -> None:
        """Keep an answer that could be read, in place of the one before."""
        if not self.keep_us:
            return
        head = json.dumps({"url": answer.reply.url, "content_type": answer.reply.header("content-type")})
        until = answer.at + self.keep_us
        response = CachedResponse(answer.reply.status, head, answer.reply.body, answer.at, answer.at, until, until)
        self.store.cache.save(self._key(url), self.source_id, response)

    def _key(self, url: str) -> str:
        return digest(canonical(["price page", KEY_VERSION, self.scope, url]))

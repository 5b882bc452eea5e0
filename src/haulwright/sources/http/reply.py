"""Replies: what came back, as a value that can be recorded.

An answer is a `WireResponse` while its body travels, a `Response` when all of it is here, a `CacheEntry` with its times
where it is kept, and a `Reply` when the caller gets it: then it knows its request, and what became of the call. A
`Stream` is a reply whose body the caller reads.
"""

from __future__ import annotations

import json as json_text
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

from haulwright.sources.http.classify import SUCCESSES, Undecodable, from_status
from haulwright.sources.tools.decoding import meant_by

CacheUse = Literal["", "hit", "revalidated", "stale"]
_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([\w.:-]{1,40})", re.IGNORECASE)
_READABLE: Final = re.compile(r"text/|[/+](?:json|xml)\b", re.IGNORECASE)
_EXCERPT_BYTES: Final = 16_384


@dataclass(frozen=True, slots=True)
class Response:
    """An answer with its whole body, before anybody was told of it."""

    status: int
    headers: dict[str, str]
    body: bytes
    received_bytes: int = 0
    cache: CacheUse = ""

    async def discard(self) -> None:
        """Nothing is left to read."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. A dataclass of plain values: an effect can record it."""

    status: int
    method: str
    url: str
    """Where the answer came from, after all redirects; without secrets."""
    headers: dict[str, str]
    """Names in lower case; several of one name joined with commas; cookies left out."""
    body: bytes
    """Unpacked."""
    cache: CacheUse = ""
    """How the cache took part: hit (nothing was sent), revalidated (304), stale (instead of an error, or while somebody
    asks), or not."""
    received_bytes: int = 0
    """The body as it travelled; 0 from the cache."""
    seconds: float = 0.0
    redirects: tuple[str, ...] = ()
    """The addresses on the way here, without secrets."""
    park_seconds: float | None = None
    """For how long the server wants no more requests."""
    credential: str = field(default="", repr=False)
    shared: bool = field(default=False, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is a success."""
        return self.status in SUCCESSES

    @property
    def text(self) -> str:
        """The body as text, in the charset that the headers name, else UTF-8; what cannot be read is replaced."""
        named = _CHARSET.search(self.headers.get("content-type", ""))
        return self.body.decode((meant_by(named[1]) if named else None) or "utf-8", "replace")

    def header(self, name: str, default: str = "") -> str:
        """The value of a header, in whatever case its name is asked for."""
        return self.headers.get(name.lower(), default)

    def json(self) -> Any:
        """The body as JSON."""
        try:
            return json_text.loads(self.body)
        except (ValueError, RecursionError) as problem:
            where = f" at position {problem.pos}" if isinstance(problem, json_text.JSONDecodeError) else ""
        raise Undecodable(f"{self._what} answered {self.status} with a body that is no JSON{where}.")

    def raise_for_status(self) -> Self:
        """Return the reply if it is a success, else raise what its status means."""
        problem = from_status(
            self.status,
            what=self._what,
            body=self._excerpt(),
            park_seconds=self.park_seconds,
            credential=self.credential,
            shared=self.shared,
        )
        if problem:
            raise problem
        return self

    @property
    def _what(self) -> str:
        """The request as errors name it."""
        return f"{self.method} {self.url.partition('?')[0]}"

    def _excerpt(self) -> str:
        """The beginning of a body that people can read."""
        kind = self.headers.get("content-type", "")
        readable = _READABLE.search(kind) and "html" not in kind
        return self.body[:_EXCERPT_BYTES].decode("utf-8", "replace") if readable else ""

    def __repr__(self) -> str:
        return f"<Reply {self.status} {self.method} {self.url} {len(self.body)} bytes>"


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer whose body arrives piece by piece, as it travels: nothing is unpacked."""

    reply: Reply
    """All but the body."""
    pieces: AsyncIterator[bytes] = field(repr=False)

    @property
    def status(self) -> int:
        """The status."""
        return self.reply.status

    @property
    def headers(self) -> dict[str, str]:
        """Names in lower case."""
        return self.reply.headers

    @property
    def url(self) -> str:
        """Where it comes from, after all redirects; without secrets."""
        return self.reply.url

    def header(self, name: str, default: str = "") -> str:
        """The value of a header, in whatever case its name is asked for."""
        return self.reply.header(name, default)

    def raise_for_status(self) -> Self:
        """Return the stream if the status is a success, else raise what it means."""
        self.reply.raise_for_status()
        return self

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self.pieces

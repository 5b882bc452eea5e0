"""A look at a file before it is fetched. What it says is a hint: servers refuse HEAD, or lie in its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from haulwright.sources.download import ranges
from haulwright.sources.http import Http, Stream

_PARTIAL: Final = 206
_NO_HEAD: Final = frozenset({400, 403, 404, 405, 501})
"""What servers say to a HEAD that they would not say to a GET."""
_ANEW: Final = {"Cache-Control": "no-store"}
"""A second look is one: what a server said the first time may have been wrong, and no cache repeats it."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a server says of a file, to be believed only as far as a download proves it."""

    bytes: int | None
    validator: str | None
    """The strong tag or date, without which a download cannot be resumed."""
    content_type: str
    resumable: bool


async def alook(http: Http, url: str, *, headers: Mapping[str, str] | None = None) -> Hint:
    """Ask what is there: by HEAD, or where that is refused by a GET of the first byte, of which nothing is read."""
    sent = dict(headers or {}) | ranges.IDENTITY | _ANEW
    reply = await http.arequest("HEAD", url, headers=sent)
    if reply.status not in _NO_HEAD:
        reply.raise_for_status()
        return _hint(reply.headers, ranges.content_length(reply.headers), ranged=_says_ranges(reply.headers))
    async with http.astream(url, headers=sent | {"Range": "bytes=0-0"}) as answer:
        answer.raise_for_status()
        span = ranges.content_span(answer.headers) if answer.status == _PARTIAL else None
        length = span.total if span else ranges.content_length(answer.headers)
        return _hint(answer.headers, length, ranged=span is not None)


def hint_of(answer: Stream) -> Hint:
    """What an answer to a GET of the whole file says, before any of it is read."""
    length = ranges.content_length(answer.headers)
    return _hint(answer.headers, length, ranged=_says_ranges(answer.headers))


def _hint(headers: Mapping[str, str], length: int | None, *, ranged: bool) -> Hint:
    validator = ranges.strong_validator(headers)
    encoded = ranges.is_encoded(headers)
    return Hint(
        bytes=None if encoded else length,
        validator=validator,
        content_type=headers.get("content-type", ""),
        resumable=ranged and validator is not None and not encoded,
    )


def _says_ranges(headers: Mapping[str, str]) -> bool:
    return headers.get("accept-ranges", "").strip().lower() == "bytes"

"""What is asked and what is answered, as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

Body = bytes | Callable[[], Iterator[bytes]]
"""The bytes of an answer, or what makes them piece by piece."""

TRUE_WORDS = frozenset({"1", "true", "yes"})


class BadRequest(ValueError):
    """A part of the request makes no sense. Each service tells it in its vendor's form."""


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """One request as it came over the wire, with its body already read."""

    method: str
    path: str
    """Below the mount of the service that answers it."""
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""
    base: str = ""
    """The address of the service as the client wrote it, for links in answers."""

    def below(self, mount: str) -> SandboxRequest:
        """The same request as the service under this mount sees it."""
        return replace(self, path=self.path[len(mount) :] or "/", base=self.base + mount)

    def text(self, name: str, default: str = "") -> str:
        """A query parameter; the last one where it is given twice."""
        return self.query.get(name, (default,))[-1]

    def flag(self, name: str) -> bool:
        """Whether a query parameter says yes."""
        return self.text(name).lower() in TRUE_WORDS

    def number(self, name: str, default: float | None = None) -> float | None:
        """A query parameter that is a number and not below zero."""
        text = self.text(name)
        if not text:
            return default
        try:
            value = float(text)
        except ValueError:
            raise BadRequest(f"{name} is {text!r}, which is no number") from None
        if not 0 <= value < float("inf"):
            raise BadRequest(f"{name} is {text}, which is below zero or without end")
        return value

    def whole(self, name: str, default: int) -> int:
        """A query parameter that counts something."""
        return int(self.number(name, default) or 0)

    def json(self) -> Any:
        """The body as JSON; an empty one is an empty object."""
        try:
            return json.loads(self.body or b"{}")
        except ValueError as error:
            raise BadRequest(f"the body is not valid JSON: {error}") from None

    def json_object(self) -> dict[str, Any]:
        """The body as a JSON object."""
        document = self.json()
        if not isinstance(document, dict):
            raise BadRequest("the body is not a JSON object")
        return document

    def form(self) -> dict[str, str]:
        """The body as a submitted form."""
        return {name: values[-1] for name, values in parse_qs(self.body.decode("utf-8", "replace")).items()}


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer travels. The default is as it should be."""

    chunk_bytes: int = 65_536
    pause_seconds: float = 0.0
    """Before each piece of the body."""
    cut_after: int | None = None
    """The connection is closed after so many bytes of the body."""
    length_error: int = 0
    """Added to the true Content-Length."""
    is_announced: bool = True
    """Without, there is no Content-Length, and the end of the connection is that of the body."""
    dropped: bool = False
    """The connection is closed without a single byte."""


@dataclass(frozen=True, slots=True)
class SandboxReply:
    """One answer."""

    status: int = 200
    body: Body = b""
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None
    """Of a body that is made piece by piece."""
    delivery: Delivery = Delivery()

    @property
    def body_length(self) -> int:
        """How many bytes the body has."""
        return len(self.body) if isinstance(self.body, bytes) else self.length or 0

    def header(self, name: str) -> str | None:
        """A header of the answer."""
        return next((value for header, value in self.headers if header.lower() == name.lower()), None)

    def with_headers(self, *more: tuple[str, str]) -> SandboxReply:
        """The same answer with more headers."""
        return replace(self, headers=(*self.headers, *more))


def json_reply(
    document: Any, status: int = 200, *headers: tuple[str, str], kind: str = "application/json"
) -> SandboxReply:
    """A JSON answer."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return SandboxReply(status, body, (("Content-Type", f"{kind}; charset=utf-8"), *headers))


def text_reply(text: str, kind: str = "text/plain", status: int = 200, *headers: tuple[str, str]) -> SandboxReply:
    """An answer in text."""
    return SandboxReply(status, text.encode(), (("Content-Type", f"{kind}; charset=utf-8"), *headers))

"""An answer as bytes on a connection, well or badly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email.utils import formatdate
from http import HTTPStatus

from haulwright.sandbox.exchange import Delivery, SandboxReply

BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


class Cut(Exception):
    """The connection has to be closed here."""


def head(reply: SandboxReply, now: float) -> bytes:
    """The status line and the headers."""
    names = {name.lower() for name, _ in reply.headers}
    lines = [f"HTTP/1.1 {reply.status} {_reason(reply.status)}", f"Date: {formatdate(now, usegmt=True)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if not reply.delivery.is_announced:
        lines.append("Connection: close")
    elif reply.status not in BODILESS and "content-length" not in names:
        lines.append(f"Content-Length: {max(0, reply.body_length + reply.delivery.length_error)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def deliver(  # noqa: PLR0913 - the ends of the wire
    reply: SandboxReply,
    *,
    now: float,
    with_body: bool,
    send: Callable[[bytes], object],
    sent: Callable[[int], object],
    pause: Callable[[float], object],
) -> None:
    """Send an answer as its delivery says; `sent` hears of the bytes of the body before they leave."""
    how = reply.delivery
    if how.dropped:
        raise Cut
    start = head(reply, now)
    if not with_body or reply.status in BODILESS:
        send(start)
        return
    for piece in _pieces(reply, how):
        if how.pause_seconds:
            # The head is not held back: what is slow is the body.
            send(start)
            start = b""
            pause(how.pause_seconds)
        sent(len(piece))
        send(start + piece)
        start = b""
    if start:
        send(start)
    if how.cut_after is not None or how.length_error or not how.is_announced:
        raise Cut


def _pieces(reply: SandboxReply, how: Delivery) -> Iterator[bytes]:
    """The body in pieces, as far as it goes."""
    left = how.cut_after if how.cut_after is not None else reply.body_length
    for block in _blocks(reply, how):
        if left <= 0:
            return
        yield block[:left]
        left -= len(block)


def _blocks(reply: SandboxReply, how: Delivery) -> Iterator[bytes]:
    blocks = iter([reply.body]) if isinstance(reply.body, bytes) else reply.body()
    for block in blocks:
        if not how.pause_seconds:
            yield block
            continue
        for start in range(0, len(block), how.chunk_bytes):
            yield block[start : start + how.chunk_bytes]


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"

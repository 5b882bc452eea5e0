"""What is written to a stream, as the standard of server-sent events has it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from haulwright.operations.views.events import event_view

if TYPE_CHECKING:
    from haulwright.events import Event

RETRY_MS: Final = 3000
"""How long a client waits before it comes again, where it has nothing better."""


def opening_frame(after: int | None) -> bytes:
    """The first of a stream: when to come again, and from where, should nothing else arrive."""
    return f"retry: {RETRY_MS}\n".encode() + (b"\n" if after is None else place_frame(after))


def place_frame(after: int) -> bytes:
    """A place without an event: clients keep it as their Last-Event-ID."""
    return f"id: {after}\n\n".encode()


def comment_frame(words: str) -> bytes:
    """Words that clients pass over."""
    return f": {words}\n\n".encode()


def event_frame(event: Event) -> bytes:
    """An event of the engine, with its place."""
    return data_frame(event_view(event), identifier=event.seq)


def event_frames(events: Iterable[Event]) -> bytes:
    """Some events, one after the other."""
    return b"".join(map(event_frame, events))


def data_frame(view: Any, *, identifier: int | None = None, name: str | None = None) -> bytes:
    """A view as one event of a stream; without a name it is a `message` to those who listen."""
    head = ("" if identifier is None else f"id: {identifier}\n") + ("" if name is None else f"event: {name}\n")
    return f"{head}data: {json.dumps(view, separators=(',', ':'))}\n\n".encode()

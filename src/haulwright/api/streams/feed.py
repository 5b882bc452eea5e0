"""What a stream is fed from."""

from __future__ import annotations

from typing import Protocol


class FeedOver(Exception):
    """Nothing comes any more."""

    def __init__(self, last: bytes = b"") -> None:
        super().__init__()
        self.last = last
        """What is sent before the stream ends."""


class StreamFeed(Protocol):
    """Gives the frames of one client. It belongs to the loop on which it was opened."""

    def open(self) -> bytes:
        """Begin; what is sent first."""

    def close(self) -> None:
        """End."""

    async def read(self, seconds: float) -> bytes | None:
        """What is to be sent next; None where there is nothing for so long. Raises FeedOver at its end."""

    def heartbeat(self) -> bytes:
        """What is sent where nothing happens."""

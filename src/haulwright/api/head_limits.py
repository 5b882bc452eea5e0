"""The head of a request within a size and a time. What reads it for us would wait for ever, and keep all of it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from haulwright.api.streams.connection import AbortableHttp

LARGEST_HEAD_BYTES: Final = 65_536
HEAD_SECONDS: Final = 30.0


class HeadLimits(AbortableHttp):
    """One connection. A client that sends no whole head in time, or too large a one, is cut."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._cutting: asyncio.TimerHandle | None = None
        """Runs while a head is waited for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._end_wait()

    def data_received(self, data: bytes) -> None:
        """Read on; count what belongs to a head that is not whole yet."""
        super().data_received(data)
        if self._cutting is not None:
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD_BYTES:
                self.transport.close()

    def on_message_begin(self) -> None:
        """Wait for the head of another request on the same connection."""
        super().on_message_begin()
        if self._cutting is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """Wait no longer: it is whole."""
        self._end_wait()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._head_bytes = 0
        self._cutting = self.loop.call_later(HEAD_SECONDS, self._cut)

    def _end_wait(self) -> None:
        if self._cutting is not None:
            self._cutting.cancel()
            self._cutting = None

    def _cut(self) -> None:
        self.transport.close()

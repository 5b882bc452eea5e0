"""The head of a request within a size and a time. What reads it for us would wait for ever, and keep all of it."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Final

from haulwright.api.kit.problems import problem
from haulwright.api.streams.connection import AbortableHttp
from haulwright.engine.ids import new_id

LARGEST_HEAD_BYTES: Final = 65_536
NO_HTTP: Final = "What was sent is no HTTP request: its first line or one of its headers cannot be read."
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

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - what uvicorn would say
        """Tell of a request that is none as of any other problem, and close: where the next begins, nobody knows."""
        answer = problem(HTTPStatus.BAD_REQUEST, "bad_request", NO_HTTP, request_id=new_id())
        head = [
            b"HTTP/1.1 400 Bad Request",
            *(b": ".join(header) for header in answer.raw_headers),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*head, b"", bytes(answer.body)]))
        self.transport.close()

    def _wait(self) -> None:
        self._head_bytes = 0
        self._cutting = self.loop.call_later(HEAD_SECONDS, self._cut)

    def _end_wait(self) -> None:
        if self._cutting is not None:
            self._cutting.cancel()
            self._cutting = None

    def _cut(self) -> None:
        self.transport.close()

"""The head of a request within a size and a time. What reads it for us would wait for ever, and keep all of it."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Final

from haulwright.api.answers import complete_headers, write_line
from haulwright.api.kit.problems import problem
from haulwright.api.streams.connection import AbortableHttp
from haulwright.engine.ids import new_id

LARGEST_HEAD_BYTES: Final = 65_536
NO_HTTP: Final = "What was sent is no HTTP request: its first line or one of its headers cannot be read."
HEAD_SECONDS: Final = 30.0
TOO_LARGE: Final = f"The head of the request is larger than {LARGEST_HEAD_BYTES:,} bytes."
TOO_SLOW: Final = f"The head of the request did not come within {HEAD_SECONDS:g} s."


class HeadLimits(AbortableHttp):
    """One connection. A client that sends no whole head in time, or too large a one, is cut."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._has_begun = False
        """Whether a head began in the piece that is read."""
        self._is_idle = True
        """Whether nothing has come yet."""
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
        """Read on; count what belongs to a head that is not whole yet.

        The piece in which a head begins may end a body before it, and is counted when the head is whole.
        """
        self._has_begun, self._is_idle = False, False
        super().data_received(data)
        if self._cutting is not None and not self._has_begun and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", TOO_LARGE)

    def on_message_begin(self) -> None:
        """Wait for the head of another request on the same connection."""
        super().on_message_begin()
        self._has_begun = True
        if self._cutting is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """Wait no longer: it is whole."""
        self._end_wait()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LARGEST_HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", TOO_LARGE)
            raise ValueError(TOO_LARGE)  # has the parser stop
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - what uvicorn would say
        """Tell of a request that is none as of any other problem, and close: where the next begins, nobody knows."""
        if not self.transport.is_closing():
            self._refuse(HTTPStatus.BAD_REQUEST, "bad_request", NO_HTTP)

    def _refuse(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Answer as the layers of a request do that it does not come to: with an id, all headers, and a line."""
        request_id = new_id()
        answer = problem(status, code, detail, request_id=request_id)
        head = [
            f"HTTP/1.1 {status.value} {status.phrase}".encode(),
            *(b": ".join(header) for header in complete_headers(answer.raw_headers, request_id.encode())),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*head, b"", bytes(answer.body)]))
        self.transport.close()
        address = self.client[0] if self.client else ""
        write_line(("no", "request"), {"status": status.value, "address": address, "request": request_id})

    def _wait(self) -> None:
        self._head_bytes = 0
        self._cutting = self.loop.call_later(HEAD_SECONDS, self._cut)

    def _end_wait(self) -> None:
        if self._cutting is not None:
            self._cutting.cancel()
            self._cutting = None

    def _cut(self) -> None:
        if self.transport.is_closing():
            return
        if self._is_idle:  # a connection that somebody opened for later
            self.transport.close()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "too_slow", TOO_SLOW)

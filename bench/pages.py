"""A server of pages, as lean as Python has one: what a client reaches against it is the client's own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

from bench.processes import ROOT, BenchError

PAGE_BYTES = 20_480
_PIECE = b"<p>The harbour opened at dawn, and the ships came in one by one.</p>\n"
_BODY = (b"<!doctype html><title>Page</title>\n" + _PIECE * 400)[:PAGE_BYTES]
_HEAD = (
    b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Oct 2026 12:00:00 GMT\r\nServer: pages\r\n"
    b"Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n" % PAGE_BYTES
)
_END = b"\r\n\r\n"
_ASKS_LOG = b"GET /log "
_came: list[float] = []
"""When each request came, by the clock of this process."""


def requests_of(site: str) -> list[float]:
    """When each request came since this was called last, in seconds by a clock of the server."""
    with urlopen(f"{site}/log") as answer:  # noqa: S310 - loopback
        moments: list[float] = json.load(answer)
    return moments


@contextmanager
def pages() -> Iterator[str]:
    """The address of a server in a process of its own, for as long as the block lasts."""
    command = [sys.executable, "-m", "bench.pages"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            port = process.stdout.readline().strip().decode() if process.stdout else ""
            if not port:
                raise BenchError("the server of pages did not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


class _Pages(asyncio.Protocol):
    """Answers each request with the same page."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = transport  # type: ignore[assignment] # a socket's goes both ways

    def data_received(self, data: bytes) -> None:
        """A request, or a part of one."""
        *requests, self._rest = (self._rest + data).split(_END)
        if not requests or not self._transport:
            return
        if requests[0].startswith(_ASKS_LOG):
            self._transport.write(_log_as_answer())
            return
        _came.extend([time.monotonic()] * len(requests))
        self._transport.write((_HEAD + _BODY) * len(requests))


def _log_as_answer() -> bytes:
    body = json.dumps(_came).encode()
    _came.clear()
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Pages, "127.0.0.1", 0, backlog=1_024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())

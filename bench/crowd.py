"""Many who watch the API at once: a stream of events each, and requests at an even rate beside them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from bench import http_client
from bench.processes import BenchError

REQUEST_CLIENTS = 8
OPENING_SECONDS = 120.0
OPENINGS_AT_ONCE = 100
"""The server answers 256 requests at once, and sends the others away for a second."""


class Crowd:
    """Streams that stay open and requests that go on, on an event loop of their own."""

    def __init__(self, address: str, tokens: Sequence[str], streams: Sequence[str], *, rate: float) -> None:
        self._address = address
        self._tokens = tokens
        self._streams = streams
        self._rate = rate
        self._opened = 0
        self._opening = asyncio.Semaphore(OPENINGS_AT_ONCE)
        self._all_opened, self._over = asyncio.Event(), asyncio.Event()
        self.failures: list[str] = []
        self.answered = 0

    async def run(self, ready: threading.Event) -> None:
        """Open all streams, say so, and send requests until it is over."""
        self._loop = asyncio.get_running_loop()
        watching = [
            asyncio.create_task(self._watch(path, self._tokens[number % len(self._tokens)]))
            for number, path in enumerate(self._streams)
        ]
        await self._all_opened.wait()
        ready.set()
        asking = [asyncio.create_task(self._ask(self._streams[0])) for _ in range(REQUEST_CLIENTS)]
        await self._over.wait()
        await asyncio.gather(*asking)
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)

    def end(self) -> None:
        """Let it come to its end; from another thread."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._loop.call_soon_threadsafe(self._all_opened.set)

    def _fail(self, why: str) -> None:
        self.failures.append(why)
        self._all_opened.set()

    async def _watch(self, path: str, token: str) -> None:
        reader, writer = await self._connect()
        try:
            async with self._opening:
                writer.write(http_client.look(self._address, token, f"/api/v1/jobs/{path}/events/stream"))
                head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                self._fail(f"a stream began with {head[:60]!r}")
                return
            self._opened += 1
            if self._opened == len(self._streams):
                self._all_opened.set()
            while await reader.read(65_536):
                pass
            self._fail("a stream ended")
        except (OSError, asyncio.IncompleteReadError) as error:
            self._fail(f"a stream broke: {error!r}")
        finally:
            writer.close()

    async def _ask(self, job_id: str) -> None:
        reader, writer = await self._connect()
        request, pause = (
            http_client.look(self._address, self._tokens[0], f"/api/v1/jobs/{job_id}"),
            REQUEST_CLIENTS / self._rate,
        )
        due = time.monotonic()
        with suppress(asyncio.CancelledError):
            while not self._over.is_set():
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                due += pause
                status = await http_client.exchange(reader, writer, request)
                self.answered += 1
                if status != 200:  # noqa: PLR2004 - of HTTP
                    self._fail(f"a request was answered {status}")
        writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        where = urlsplit(self._address)
        return await asyncio.open_connection(where.hostname, where.port)


@contextmanager
def watching(address: str, tokens: Sequence[str], streams: Sequence[str], *, rate: float) -> Iterator[Crowd]:
    """A crowd that is there from here to the end; raises where it met one fault."""
    crowd, ready = Crowd(address, tokens, streams, rate=rate), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(crowd.run(ready)))
    thread.start()
    try:
        if not ready.wait(OPENING_SECONDS):
            raise BenchError("the streams did not open")
        yield crowd
    finally:
        crowd.end()
        thread.join()
    if crowd.failures:
        raise BenchError(f"{len(crowd.failures)} faults, the first: {crowd.failures[0]}")

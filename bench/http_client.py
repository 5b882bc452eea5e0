"""A client that costs little: requests written beforehand, over connections that stay open, all on one event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from bench.processes import BenchError

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


def request(address: str, token: str, path: str, body: bytes) -> bytes:
    """A POST of JSON as bytes."""
    host = urlsplit(address).netloc
    head = [
        f"POST {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]  # fmt: skip
    return "\r\n".join(head).encode() + _END + body


def send_all(address: str, requests: Sequence[bytes], clients: int) -> tuple[float, list[float]]:
    """Send them by so many clients at once; the seconds that it took, and the milliseconds of each request."""
    return asyncio.run(_send_all(address, requests, clients))


async def _send_all(address: str, requests: Sequence[bytes], clients: int) -> tuple[float, list[float]]:
    where = urlsplit(address)
    pipes = [await asyncio.open_connection(where.hostname, where.port) for _ in range(clients)]
    taken: list[float] = []
    left = iter(requests)
    began = time.perf_counter()
    await asyncio.gather(*(_send(*pipe, left, taken) for pipe in pipes))
    seconds = time.perf_counter() - began
    for _, writer in pipes:
        writer.close()
    return seconds, taken


async def _send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: object, taken: list[float]) -> None:
    for one in left:  # type: ignore[attr-defined] # one iterator for all clients: who is free takes the next
        began = time.perf_counter()
        writer.write(one)
        head = await reader.readuntil(_END)
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(_LENGTH))
        answer = await reader.readexactly(int(length.partition(b":")[2]))
        taken.append((time.perf_counter() - began) * 1000)
        if not head.startswith(b"HTTP/1.1 202"):
            raise BenchError(f"the API answered {head[:20]!r} {answer[:200]!r}")

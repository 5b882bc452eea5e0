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


def look(address: str, token: str, path: str) -> bytes:
    """A GET as bytes."""
    host = urlsplit(address).netloc
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}"]).encode() + _END


def send_all(address: str, requests: Sequence[bytes], clients: int, *, status: int = 202) -> tuple[float, list[float]]:
    """Send them by so many clients at once; the seconds that it took, and the milliseconds of each request."""
    return asyncio.run(_send_all(address, requests, clients, status))


async def _send_all(address: str, requests: Sequence[bytes], clients: int, status: int) -> tuple[float, list[float]]:
    where = urlsplit(address)
    pipes = [await asyncio.open_connection(where.hostname, where.port) for _ in range(clients)]
    taken: list[float] = []
    left = iter(requests)
    began = time.perf_counter()
    await asyncio.gather(*(_send(*pipe, left, taken, status) for pipe in pipes))
    seconds = time.perf_counter() - began
    for _, writer in pipes:
        writer.close()
    return seconds, taken


async def _send(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: object, taken: list[float], status: int
) -> None:
    for one in left:  # type: ignore[attr-defined] # one iterator for all clients: who is free takes the next
        began = time.perf_counter()
        answered = await exchange(reader, writer, one)
        taken.append((time.perf_counter() - began) * 1000)
        if answered != status:
            raise BenchError(f"the API answered {answered}")


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """Send a request, read its answer whole, and return its status."""
    writer.write(request)
    head = await reader.readuntil(_END)
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(_LENGTH))
    await reader.readexactly(int(length.partition(b":")[2]))
    return int(head.split(b" ", 2)[1])

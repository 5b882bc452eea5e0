"""A host of files that costs little: bytes from memory over connections that stay open, in a process of its own.

`/documents/7.bin?size=100000` has a content of its own for each number; `/large?size=...` is one block again and again.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading

_REQUEST = re.compile(rb"(GET|HEAD) /(documents|large)/?(\d*)[^ ?]*\?size=(\d+)")
_RANGE = re.compile(rb"\r\nrange:", re.IGNORECASE)
BLOCK = random.Random(7).randbytes(1024 * 1024)  # noqa: S311 - the same bytes in every run
_END = b"\r\n\r\n"


def start() -> str:
    """Open the host, and return its address."""
    opened: list[str] = []
    is_open = threading.Event()
    threading.Thread(target=lambda: asyncio.run(_serve(opened, is_open)), daemon=True).start()
    is_open.wait()
    return opened[0]


async def _serve(opened: list[str], is_open: threading.Event) -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=512)
    opened.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    is_open.set()
    await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(_END)
            request = _REQUEST.match(head)
            if request is None or _RANGE.search(head):
                raise ValueError("no request of a bench: " + head.decode("latin-1"))
            method, number, size = request[1], request[3], int(request[4])
            lines = f'HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nETag: "{number.decode()}-{size}"\r\n'
            writer.write(
                f"{lines}Content-Type: application/octet-stream\r\nAccept-Ranges: bytes{_END.decode()}".encode()
            )
            if method == b"GET":
                await _send(writer, number, size)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _send(writer: asyncio.StreamWriter, number: bytes, size: int) -> None:
    beginning = number.ljust(16, b"\0")[:size]
    writer.write(beginning)
    left = size - len(beginning)
    while left > 0:
        writer.write(memoryview(BLOCK)[:left])
        left -= min(left, len(BLOCK))
        await writer.drain()

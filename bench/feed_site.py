"""A server of feeds on loopback, in a process of its own: `python -m bench.feed_site FEEDS ENTRIES`.

It prints its port. Each path is a feed with an ETag; whoever shows that gets a 304.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys

from haulwright.sandbox.feeds import world
from haulwright.sandbox.feeds.formats import Channel, atom, rss1, rss2

SEED = 7
FROM = 1_790_856_000.0
"""1 October 2026, 12:00 UTC: where the articles end."""


def bodies(feeds: int, entries: int) -> list[bytes]:
    """Feeds of so many entries, every article of its own, in the three formats that are most about."""
    count = feeds * entries
    weeks = count / (world.EVENTS_A_WEEK * world.FEWEST_PAPERS)
    articles = world.articles(SEED, FROM - weeks * world.WEEK, FROM)[:count]
    writers = (rss2, atom, rss1)
    return [
        writers[number % len(writers)](
            Channel(f"Paper {number}", f"https://paper-{number}.example", "bench", articles[start : start + entries])
        )
        for number, start in enumerate(range(0, count, entries))
    ]


async def serve(feeds: list[bytes]) -> None:
    """Answer until the process is ended."""
    answers = [(hashlib.sha256(body).hexdigest()[:16], body) for body in feeds]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                etag, body = answers[int(head.split(b" ", 2)[1].rpartition(b"/")[2])]
                is_current = f'if-none-match: "{etag}"'.encode() in head.lower()
                status, content = (b"304 Not Modified", b"") if is_current else (b"200 OK", body)
                writer.write(
                    b'HTTP/1.1 %s\r\nContent-Type: application/xml\r\nETag: "%s"\r\nContent-Length: %d\r\n\r\n'
                    % (status, etag.encode(), len(content))
                )
                writer.write(content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(bodies(int(sys.argv[1]), int(sys.argv[2]))))

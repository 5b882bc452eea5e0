"""Scrapy with a job directory: its requests wait on disk, and each page that it read is a line in a file.

Its defaults but for what makes it comparable: 50 requests at once and to one host, no pause between them (which is its
default), and no console over Telnet. All requests are in the job directory before the clock starts.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

from bench.reading import parse

DISTRIBUTIONS = ("scrapy", "twisted", "selectolax")


class Clock:
    """From the first request that may leave to the end of the crawl."""

    def start(self) -> None:
        """All requests are there."""
        self._busy, self._began = time.process_time(), time.perf_counter()

    def stop(self) -> None:
        """All items are."""
        self.seconds, self.busy_seconds = time.perf_counter() - self._began, time.process_time() - self._busy


class Pages(scrapy.Spider):  # type: ignore[misc]  # of the peers' environment, which mypy does not see
    """Fetches and reads so many pages of a site."""

    name = "pages"

    async def start(self) -> AsyncIterator[Any]:
        """Each page once."""
        engine = self.crawler.engine
        engine.pause()
        for number in range(self.count):
            yield scrapy.Request(f"{self.site}/page/{number}")
        self.clock.start()
        engine.unpause()

    def parse(self, response: Any, **_: Any) -> Any:
        """What is read of a page is one item."""
        title, paragraphs = parse(response.body)
        yield {"url": response.url, "title": title, "paragraphs": paragraphs}


def crawl(site: str, count: int, at_once: int, folder: str) -> list[float]:
    """Pages a second, and microseconds of the processor for each. Once a process: its reactor does not start again."""
    items = Path(folder) / "items.jsonl"
    settings = {
        "JOBDIR": str(Path(folder) / "job"),
        "FEEDS": {items: {"format": "jsonlines"}},
        "CONCURRENT_REQUESTS": at_once,
        "CONCURRENT_REQUESTS_PER_DOMAIN": at_once,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Pages)
    clock = Clock()
    crawler.signals.connect(clock.stop, signals.spider_closed)
    process.crawl(crawler, site=site, count=count, clock=clock)
    process.start()
    with items.open() as lines:
        kept = sum(1 for _ in lines)
    if kept != count or crawler.stats.get_value("scheduler/dequeued/disk") != count:
        raise ValueError(f"{kept} of {count} pages were kept, or not all requests came from the job directory")
    return [count / clock.seconds, clock.busy_seconds / count * 1_000_000]

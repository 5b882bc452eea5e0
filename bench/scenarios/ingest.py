"""The brief's ingestion from end to end: feeds of a local server to committed articles, by one worker."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from bench.figures import ARTICLES_PER_SECOND, Series
from bench.lane import Bench
from bench.processes import ROOT, BenchError
from bench.workload import app, reset
from haulwright import Haulwright
from haulwright.application.private_hosts import policy_of
from haulwright.apps.brief.application import Brief
from haulwright.clock import SECOND
from haulwright.operations.principal import Principal
from haulwright.stores import migrations
from haulwright.stores.connect import open_database

TENANT = "bench"
READER = Principal.of_tenant(TENANT)
NEW = "new articles"
AGAIN = "the same feeds again, 304 each"
FEED_ENTRIES = 50
LONGEST_SECONDS = 120.0
_POLITENESS_OFF = {
    "HAULWRIGHT_BRIEF_FEED_RATE": "1000000/s",
    "HAULWRIGHT_BRIEF_FEED_BURST": "10000",
    "HAULWRIGHT_BRIEF_FEED_CONCURRENCY": "64",
    "HAULWRIGHT_BRIEF_PRIVATE_HOSTS": "127.0.0.1",
}


def ingest(bench: Bench, database: str) -> list[Series]:
    """Articles a second from the first claim to the last commit; then the same feeds once more, unchanged."""
    scenario, feeds = f"ingest {database}", bench.plan.ingest_feeds
    address = bench.site.address(database, f"ingest_{database}")
    runs: dict[str, list[float]] = {NEW: [], AGAIN: []}
    with _feed_site(feeds) as site:
        for _ in range(bench.plan.rounds):
            with app.moved_to(address):
                reset()
            with _installed(address) as brief:
                for number in range(feeds):
                    brief.feeds.add(TENANT, f"{site}/{number}")
                for name, taken in runs.items():
                    bench.site.settle_down()
                    taken.append(feeds * FEED_ENTRIES / _ingested(brief, address, feeds))
                    bench.say(f"  {scenario}: {name}: {taken[-1]:,.0f} {ARTICLES_PER_SECOND}")
                _check(brief, feeds * FEED_ENTRIES)
    jobs = feeds * FEED_ENTRIES
    return [Series(scenario, name, ARTICLES_PER_SECOND, tuple(taken), jobs=jobs) for name, taken in runs.items()]


@contextmanager
def _feed_site(feeds: int) -> Iterator[str]:
    """The server of the feeds, as an address."""
    command = [sys.executable, "-m", "bench.feed_site", str(feeds), str(FEED_ENTRIES)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}" if process.stdout else ""
        finally:
            process.terminate()


@contextmanager
def _installed(address: str) -> Iterator[Brief]:
    """The brief on an app of its own, with its tables."""
    with closing(Haulwright(address)) as own:
        brief = Brief.on(own)
        brief.feeds._policy = policy_of("127.0.0.1")  # noqa: SLF001 - this process only writes down where feeds are
        with closing(open_database(address)) as database:
            migrations.migrate(database, "haulwright.apps.brief")
        yield brief


def _ingested(brief: Brief, address: str, feeds: int) -> float:
    """How long one worker takes, by the clock of the database: from its first claim to the last completion."""
    brief.ingest(READER)
    since = int(time.time() * SECOND)
    command = [sys.executable, "-m", "haulwright", "worker", "-A", "haulwright.apps.brief.worker:app"]
    command += ["--database", address, "--queues", "brief", "--concurrency", "50", "--until-empty", "--no-progress"]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **_POLITENESS_OFF},
        capture_output=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    ((count, began, finished),) = brief.app.store.database.read(
        lambda connection: connection.execute(
            "select count(*), min(leased_at), max(finished_at) from haulwright_history "
            f"where task = 'brief.fetch' and state = 'succeeded' and finished_at >= {since}"
        )
    )
    if count != feeds:
        raise BenchError(f"{count} of {feeds} feeds were read: {ended.stderr.decode()[-300:]}")
    return float(finished - began) / SECOND


def _check(brief: Brief, articles: int) -> None:
    """Every article once, or the figures mean nothing."""
    ((count,),) = brief.app.store.database.read(
        lambda connection: connection.execute("select count(*) from brief_articles")
    )
    if count != articles:
        raise BenchError(f"{count} articles instead of {articles}")

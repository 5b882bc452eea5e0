"""How much is measured: a full run decides about the targets, a quick one shows within minutes where things stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of a run."""

    quick: bool
    rounds: int
    pair_rounds: int
    """Where one drain is set against another of ours: they are short, and a machine that is uneven meets both alike."""
    probes: int
    """How often each setting of a contender is tried before the best one is measured."""
    probe_jobs: int
    single_rounds: int
    """Many short ones: whatever the disk does for a few seconds meets all ways of writing alike."""
    single_enqueues: int
    bulk_rounds: int
    bulk_enqueues: int
    loaded_backlog: int
    """Jobs that two workers drain while enqueues are timed."""
    pickups: int
    idle_seconds: float
    memory_jobs: int
    memory_first: int
    tenants: int
    parked: int
    history: int
    backlog: int
    snapshot_jobs: int
    snapshot_part: int
    """The first and the last so many of them are compared."""
    gate_passes: int
    pages: int
    """That each client fetches in a round."""
    feed_entries: int
    ingest_feeds: int
    """Of 50 entries each."""
    news_few: int
    news_many: int
    """Articles that are remembered while others are placed."""
    news_part: int
    raw_items: int
    """Of brands, in runs of 1,000."""
    year_jobs: int
    """Finished ones, each with three events."""
    list_looks: int
    """How often each list of the API and each page of the dashboard is asked."""
    watchers: int
    """Streams of events that are open at once."""
    watched_jobs: int
    """That are drained meanwhile: a minute's work."""
    harvested: int
    """Pages, each of them a job."""
    paced: int
    """Pages of a source that takes 200 a second."""
    documents: int
    """Small files, of 100 KB each."""
    large_bytes: int


FULL = Plan(
    quick=False,
    rounds=3,
    pair_rounds=7,
    probes=2,
    probe_jobs=5_000,
    single_rounds=15,
    single_enqueues=600,
    bulk_rounds=9,
    bulk_enqueues=30_000,
    loaded_backlog=200_000,
    pickups=200,
    idle_seconds=20.0,
    memory_jobs=1_000_000,
    memory_first=10_000,
    tenants=200,
    parked=200_000,
    history=5_000_000,
    backlog=1_000_000,
    snapshot_jobs=200_000,
    snapshot_part=20_000,
    gate_passes=2_000,
    pages=5_000,
    feed_entries=10_000,
    ingest_feeds=500,
    news_few=10_000,
    news_many=100_000,
    news_part=1_000,
    raw_items=50_000,
    year_jobs=10_000_000,
    list_looks=100,
    watchers=1_000,
    watched_jobs=600_000,
    harvested=5_000,
    paced=6_000,
    documents=2_000,
    large_bytes=1024**3,
)
QUICK = Plan(
    quick=True,
    rounds=1,
    pair_rounds=1,
    probes=0,
    probe_jobs=0,
    single_rounds=5,
    single_enqueues=200,
    bulk_rounds=3,
    bulk_enqueues=5_000,
    loaded_backlog=30_000,
    pickups=60,
    idle_seconds=5.0,
    memory_jobs=100_000,
    memory_first=10_000,
    tenants=200,
    parked=30_000,
    history=100_000,
    backlog=60_000,
    snapshot_jobs=30_000,
    snapshot_part=5_000,
    gate_passes=500,
    pages=1_000,
    feed_entries=2_000,
    ingest_feeds=100,
    news_few=1_000,
    news_many=10_000,
    news_part=500,
    raw_items=7_000,
    year_jobs=100_000,
    list_looks=20,
    watchers=200,
    watched_jobs=100_000,
    harvested=1_000,
    paced=1_000,
    documents=300,
    large_bytes=64 * 1024**2,
)

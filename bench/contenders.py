"""Who is measured: Haulwright, the raw loops over its statements, and the peers, with the settings that are tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Setting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to drain a queue."""

    name: str
    """As the page calls it, and targets refer to it."""
    module: str
    database: str
    """`postgres`, `sqlite` or `redis`."""
    settings: tuple[Setting, ...]
    """What a full run tries; the one that drains fastest is measured. A quick run takes the first."""
    jobs: int = 30_000
    quick_jobs: int = 5_000
    workers: int = 1
    peer: bool = False
    """Whether it runs in the peers' environment."""
    filling: Mapping[str, Any] = field(default_factory=dict)
    """Options of the jobs that it is given."""

    @property
    def place(self) -> str:
        """The name of its own database."""
        return "".join(letter if letter.isalnum() else "_" for letter in f"{self.name}_{self.database}".lower())

    @property
    def kind(self) -> str:
        """What its best setting depends on."""
        return f"{self.module} {self.database} {self.filling.get('task', '')}"

    def twice(self) -> Contender:
        """The same with two worker processes."""
        return replace(self, name=f"{self.name}, two processes", workers=2)


def _draining(*concurrency: int) -> tuple[Setting, ...]:
    return tuple({"until_empty": True, "concurrency": number} for number in concurrency)


def _batches(*sizes: int) -> tuple[Setting, ...]:
    return tuple({"batch": size} for size in sizes)


def haulwright(database: str, **changes: Any) -> Contender:
    """Haulwright with `async def` tasks, one worker process."""
    same = Contender("Haulwright", "bench.workload", database, _draining(500, 250, 100))
    return replace(same, **changes)


def haulwright_plain(database: str) -> Contender:
    """Haulwright with `def` tasks."""
    settings = _draining(100, 250, 500, 32)
    return haulwright(database, name="Haulwright, def tasks", settings=settings, filling={"task": "plain"})


def raw(database: str) -> Contender:
    """The raw loop."""
    return Contender("raw loop", f"bench.raw_{database}", database, _batches(500, 200, 1000))


def _peer(name: str, module: str, database: str, jobs: int, quick_jobs: int, *settings: Setting) -> Contender:
    return Contender(name, f"bench.peers.{module}", database, settings, jobs, quick_jobs, peer=True)


PEERS = (
    _peer("PgQueuer", "pgqueuer", "postgres", 30_000, 5_000,
          {"batch": 500, "uvloop": True}, {"batch": 500}, {"batch": 1000, "uvloop": True},
          {"batch": 250, "uvloop": True}),
    _peer("Chancy", "chancy", "postgres", 10_000, 1_000,
          {"concurrency": 1000, "flush_seconds": 0.05}, {"concurrency": 1000, "flush_seconds": 1},
          {"concurrency": 250, "flush_seconds": 0.05}),
    _peer("Procrastinate", "procrastinate", "postgres", 3_000, 300,
          {"concurrency": 10, "pool": 10}, {"concurrency": 30, "pool": 20}, {"concurrency": 1, "pool": 2}),
    _peer("DBOS", "dbos", "postgres", 2_000, 200,
          {"poll_seconds": 0.1, "concurrency": 100}, {"poll_seconds": 0.1}, {"poll_seconds": 0.01, "concurrency": 50}),
    _peer("Celery", "celery", "redis", 3_000, 1_000,
          {"pool": "solo", "concurrency": 1, "prefetch": 100}, {"pool": "threads", "concurrency": 4, "prefetch": 64}),
    _peer("Dramatiq", "dramatiq", "redis", 5_000, 1_000,
          {"threads": 1, "prefetch": 1000}, {"threads": 8, "prefetch": 1000}),
    _peer("DBOS", "dbos", "sqlite", 3_000, 300,
          {"poll_seconds": 0.1}, {"poll_seconds": 0.05, "concurrency": 50}, {"poll_seconds": 0.1, "concurrency": 100}),
    _peer("Django tasks", "django_tasks", "sqlite", 1_000, 200, {"interval": 0}, {"interval": 1}),
    _peer("Huey", "huey", "sqlite", 5_000, 1_000, {"workers": 1}, {"workers": 2}),
)  # fmt: skip


def peers(*databases: str) -> tuple[Contender, ...]:
    """The peers on these databases."""
    return tuple(peer for peer in PEERS if peer.database in databases)

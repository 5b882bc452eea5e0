"""What Haulwright is to reach: ratios between medians of one run, and limits. Verdicts follow from figures alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.figures import Series
from bench.scenarios import (
    api,
    brands,
    clustering,
    documents,
    drains,
    enqueueing,
    fetching,
    flat,
    harvest,
    ingest,
    lists,
    pages,
    rate,
    retention,
    sources,
    standing,
    startup,
    watchers,
    year,
)

Figures = Mapping[str, Series]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out for one target."""

    what: str
    figure: str
    target: str
    verdict: str
    """`met`, `not met`, or `not measured`."""


@dataclass(frozen=True, slots=True)
class Target:
    """One median, by itself or over the best of others, and how small or large it may be."""

    what: str
    of: str
    over: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def value(self, figures: Figures) -> float | None:
        """What came out, where everything it needs was measured."""
        if any(key not in figures for key in (self.of, *self.over)):
            return None
        best = max((figures[key].median for key in self.over), default=1.0)
        return figures[self.of].median / best if best else None

    def is_met(self, value: float) -> bool:
        """Whether that is enough."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    @property
    def asked(self) -> str:
        """For people."""
        return f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"


@dataclass(frozen=True, slots=True)
class Either:
    """Two targets of which one is enough."""

    what: str
    either: tuple[Target, Target]


def _drain(database: str, name: str) -> str:
    return f"drain {database}/{name}"


def _flat(scenario: str, database: str, name: str, what: str, least: float = 0.8) -> Target:
    key = f"{scenario} {database}"
    base = (f"{key}/{drains.BASE}",)
    return Target(f"{_SHORT[database]}: {what}, over the same without", f"{key}/{name}", base, least)


_SHORT = {"postgres": "PostgreSQL", "sqlite": "SQLite"}
_PG, _LITE = "postgres", "sqlite"
_OURS, _RAW = "Haulwright", "raw loop"
_TWO = ", two processes"


def _on_postgres() -> tuple[Target | Either, ...]:
    ours, raw = _drain(_PG, _OURS), _drain(_PG, _RAW)
    twice, raw_twice = _drain(_PG, _OURS + _TWO), _drain(_PG, _RAW + _TWO)
    return (
        Target("PostgreSQL: drain over PgQueuer at its best batch", ours, (_drain(_PG, "PgQueuer"),), 1.5),
        Target("PostgreSQL: drain over the raw loop", ours, (raw,), 0.5),
        Either(
            "PostgreSQL: two processes over one, or over two raw loops",
            (Target("over one", twice, (ours,), 1.3), Target("over two raw loops", twice, (raw_twice,), 0.5)),
        ),
        Target("PostgreSQL: `def` tasks over `async def`", _drain(_PG, "Haulwright, def tasks"), (ours,), 0.75),
        _flat("tenants", _PG, drains.TENANTS, "many tenants"),
        _flat("parked", _PG, drains.PARKED, "many parked jobs at the best priority"),
        Target("PostgreSQL: letting go of a year, s", _year(year.RETENTION), most=60.0),
        Target(
            "PostgreSQL: claim p99 beside it, over without", _year(year.CLAIM_BESIDE), (_year(year.CLAIM),), most=2.0
        ),
        Target(
            "PostgreSQL: enqueue p99 beside it, over without",
            _year(year.ENQUEUE_BESIDE),
            (_year(year.ENQUEUE),),
            most=2.0,
        ),
    )


def _year(name: str) -> str:
    return f"year postgres/{name}"


def _on_sqlite() -> tuple[Target | Either, ...]:
    ours = _drain(_LITE, _OURS)
    durable = (_drain(_LITE, "DBOS"), _drain(_LITE, "Django tasks"))
    return (
        Target("SQLite: drain over the best of DBOS and Django tasks", ours, durable, 8.0),
        Target("SQLite: drain over Huey", ours, (_drain(_LITE, "Huey"),), 4.0),
        Target("SQLite: drain over the raw loop", ours, (_drain(_LITE, _RAW),), 0.4),
        Target("SQLite: two processes over one", _drain(_LITE, _OURS + _TWO), (ours,), 1.0),
        Target("SQLite: `def` tasks over `async def`", _drain(_LITE, "Haulwright, def tasks"), (ours,), 0.75),
        _flat("tenants", _LITE, drains.TENANTS, "many tenants", 0.85),
    )


def _on_both(database: str) -> tuple[Target | Either, ...]:
    return (*_of_queue(database), *_of_api(database), *_of_workers(database), *_of_harvest(database))


def _of_queue(database: str) -> tuple[Target | Either, ...]:
    short, single, bulk = _SHORT[database], f"enqueue {database}/", f"bulk {database}/"
    return (
        Target(
            f"{short}: enqueue over a bare insert and commit",
            single + enqueueing.HAULWRIGHT, (single + enqueueing.BARE,), 0.8,
        ),
        Target(
            f"{short}: bulk enqueue over bare COPY or executemany",
            bulk + enqueueing.HAULWRIGHT, (bulk + enqueueing.BARE_BULK,), 0.5,
        ),
        Target(f"{short}: enqueue p99 beside two busy workers, ms", f"loaded {database}/p99", most=20.0),
    )  # fmt: skip


def _of_api(database: str) -> tuple[Target | Either, ...]:
    short, http, watched = _SHORT[database], f"http {database}/", f"watchers {database}/"
    return (
        Target(
            f"{short}: enqueue over HTTP by {api.CLIENTS} at once, over the same in the own process",
            http + api.HTTP, (http + api.IN_PROCESS,), 0.5,
        ),
        Target(
            f"{short}: drain beside many who watch over HTTP, over the same without",
            watched + watchers.WATCHED, (watched + watchers.ALONE,), 0.8,
        ),
        Target(
            f"{short}: memory of the server at the end over that when all watch",
            watched + watchers.MEMORY_END, (watched + watchers.MEMORY_FIRST,), most=1.2,
        ),
        Target(f"{short}: slowest list of the API, p95, ms", f"lists {database}/{lists.SLOWEST}", most=200.0),
        Target(f"{short}: slowest page of the dashboard, p95, ms", f"pages {database}/{pages.SLOWEST}", most=300.0),
        Target(f"{short}: enqueue over HTTP p99 beside two busy workers, ms", f"httploaded {database}/p99", most=30.0),
    )  # fmt: skip


def _of_workers(database: str) -> tuple[Target | Either, ...]:
    short, memory, pickup = _SHORT[database], f"memory {database}/", f"pickup {database}/"
    kept, beside = f"retention {database}/", 0.6 if database == _PG else 0.3
    pick_p50, idle = (4.0, 1.0) if database == _PG else (10.0, 2.0)
    return (
        Target(f"{short}: pick-up p50, ms", pickup + "p50", most=pick_p50),
        *((Target(f"{short}: pick-up p99, ms", pickup + "p99", most=15.0),) if database == _PG else ()),
        Target(f"{short}: idle worker, % of a core", f"idle {database}/{standing.IDLE}", most=idle),
        Target(
            f"{short}: memory at the end over memory after the first jobs",
            memory + standing.MEMORY_END, (memory + standing.MEMORY_FIRST,), most=1.2,
        ),
        _flat("history", database, flat.HISTORY, "large history"),
        _flat("backlog", database, flat.BACKLOG, "large backlog"),
        Target(
            f"{short}: rows that retention removes over jobs that finish beside it",
            kept + retention.PRUNED, (kept + retention.BESIDE,), 1.0,
        ),
        Target(
            f"{short}: drain beside retention, over the same without",
            kept + retention.BESIDE, (kept + retention.WITHOUT,), beside,
        ),
    )  # fmt: skip


def _of_harvest(database: str) -> tuple[Target | Either, ...]:
    short, rows, pages = _SHORT[database], f"normalization {database}", f"harvest {database}/"
    files, large, fetch = f"documents {database}/", f"largedocument {database}/", f"fetch {database}/"
    few, over_scrapy, paced = 1.0 if database == _PG else 0.7, 2.0 if database == _PG else 1.5, f"rate {database}/"
    return (
        Target(f"{short}: passing and leaving a gate p50, ms", f"gate {database}/p50", most=1.0),
        Target(
            f"{short}: pages harvested over Scrapy with a job directory",
            pages + harvest.HAULWRIGHT, (pages + harvest.SCRAPY,), over_scrapy,
        ),
        Target(f"{short}: a rate that eight processes share, used", paced + rate.USED, least=0.97),
        Target(
            f"{short}: most requests beyond that rate in any window, as the server saw them",
            paced + rate.CROWD, most=rate.BURST,
        ),
        Target(
            f"{short}: pages harvested over a bare loop on the same client",
            pages + harvest.HAULWRIGHT, (pages + harvest.BARE,), 0.5,
        ),
        Target(
            f"{short}: documents of 100 KB over aria2c",
            files + documents.HAULWRIGHT, (files + documents.ARIA,), few,
        ),
        Target(
            f"{short}: a large document, hashed, over curl",
            large + documents.HAULWRIGHT, (large + documents.CURL,), 0.8,
        ),
        Target(
            f"{short}: pages by our client alone over a bare aiohttp loop",
            fetch + fetching.CLIENT, (fetch + fetching.AIOHTTP,), 0.5,
        ),
        Target(
            f"{short}: pages by a source without limits over a bare httpx2 loop",
            fetch + fetching.SOURCE, (fetch + fetching.HTTPX2,), 1.0,
        ),
        Target(f"{short}: asking for a compile p99 beside two busy workers, ms", f"kickoff {database}/p99", most=20.0),
        Target(f"{short}: raw items of brands to rows, a second", f"{rows}/{brands.NEW}", least=5_000),
    )  # fmt: skip


_SNAPSHOT = Target(
    "PostgreSQL: last part of a drain over the first, another client's snapshot held open",
    f"snapshot {_PG}/{flat.LAST}",
    (f"snapshot {_PG}/{flat.FIRST}",),
    0.8,
)
_FEEDS = Target(
    "Feeds: read, cleaned and canonicalized, over feedparser alone",
    f"feeds none/{sources.HAULWRIGHT}",
    (f"feeds none/{sources.BARE}",),
    15.0,
)
_INGEST = Target(
    "PostgreSQL: articles of feeds fetched, read and committed, a second", f"ingest {_PG}/{ingest.NEW}", least=2_000
)
_CLUSTERING = Target(
    "Clustering: placing an article in a large window over a small one",
    f"{clustering.SCENARIO}/{clustering.MANY}",
    (f"{clustering.SCENARIO}/{clustering.FEW}",),
    most=3.0,
)
_STARTUP = (
    Target("Starting: `import haulwright` in a new process, ms", f"{startup.SCENARIO}/{startup.IMPORT}", most=60.0),
    Target("Starting: `haulwright --version`, ms", f"{startup.SCENARIO}/{startup.VERSION}", most=150.0),
)
ALL: tuple[Target | Either, ...] = (
    *_on_postgres(),
    *_on_sqlite(),
    *_on_both(_PG),
    _SNAPSHOT,
    *_on_both(_LITE),
    _FEEDS,
    _INGEST,
    _CLUSTERING,
    *_STARTUP,
)


def verdicts(figures: Figures) -> list[Verdict]:
    """What came out for each target, in order."""
    return [_judge(target, figures) for target in ALL]


def _judge(target: Target | Either, figures: Figures) -> Verdict:
    parts = target.either if isinstance(target, Either) else (target,)
    known = [(part, value) for part in parts if (value := part.value(figures)) is not None]
    asked = " or ".join(part.asked for part in parts)
    if not known:
        return Verdict(target.what, "", asked, "not measured")
    measured = " and ".join(f"{value:.2f}" for _, value in known)
    met = any(part.is_met(value) for part, value in known)
    return Verdict(target.what, measured, asked, "met" if met else "not met")

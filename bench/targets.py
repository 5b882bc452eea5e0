"""What Penstock is to reach: ratios between medians of one run, and limits. Verdicts follow from figures alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.figures import Series
from bench.scenarios import drains, enqueueing, flat, standing

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
class Ratio:
    """One median over the best of others."""

    what: str
    of: str
    over: tuple[str, ...]
    least: float | None = None
    most: float | None = None

    def value(self, figures: Figures) -> float | None:
        """The ratio, where both sides were measured."""
        against = [figures[key].median for key in self.over if key in figures]
        if self.of not in figures or not against or not max(against):
            return None
        return figures[self.of].median / max(against)

    def shown(self, value: float) -> str:
        """For people."""
        return f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Limit:
    """One median by itself."""

    what: str
    of: str
    most: float
    least: float | None = None

    def value(self, figures: Figures) -> float | None:
        """The median, where it was measured."""
        return figures[self.of].median if self.of in figures else None

    def shown(self, value: float) -> str:
        """For people."""
        return f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Either:
    """Two ratios of which one is enough."""

    what: str
    either: tuple[Ratio, Ratio]


Target = Ratio | Limit | Either


def _drain(database: str, name: str) -> str:
    return f"drain {database}/{name}"


def _flat(scenario: str, database: str, name: str, what: str) -> Ratio:
    key = f"{scenario} {database}"
    return Ratio(f"{_SHORT[database]}: {what}, over the same without", f"{key}/{name}", (f"{key}/{drains.BASE}",), 0.8)


_SHORT = {"postgres": "PostgreSQL", "sqlite": "SQLite"}
_PG, _LITE = "postgres", "sqlite"
_OURS, _RAW = "Penstock", "raw loop"
_TWO = ", two processes"


def _on_postgres() -> tuple[Target, ...]:
    ours, raw = _drain(_PG, _OURS), _drain(_PG, _RAW)
    twice, raw_twice = _drain(_PG, _OURS + _TWO), _drain(_PG, _RAW + _TWO)
    return (
        Ratio("PostgreSQL: drain over PgQueuer at its best batch", ours, (_drain(_PG, "PgQueuer"),), 1.5),
        Ratio("PostgreSQL: drain over the raw loop", ours, (raw,), 0.5),
        Either(
            "PostgreSQL: two processes over one, or over two raw loops",
            (Ratio("over one", twice, (ours,), 1.3), Ratio("over two raw loops", twice, (raw_twice,), 0.5)),
        ),
        Ratio("PostgreSQL: `def` tasks over `async def`", _drain(_PG, "Penstock, def tasks"), (ours,), 0.6),
        _flat("tenants", _PG, drains.TENANTS, "many tenants"),
        _flat("parked", _PG, drains.PARKED, "many parked jobs at the best priority"),
    )


def _on_sqlite() -> tuple[Target, ...]:
    ours = _drain(_LITE, _OURS)
    durable = (_drain(_LITE, "DBOS"), _drain(_LITE, "Django tasks"))
    return (
        Ratio("SQLite: drain over the best of DBOS and Django tasks", ours, durable, 8.0),
        Ratio("SQLite: drain over Huey", ours, (_drain(_LITE, "Huey"),), 4.0),
        Ratio("SQLite: drain over the raw loop", ours, (_drain(_LITE, _RAW),), 0.4),
    )


def _on_both(database: str) -> tuple[Target, ...]:
    short = _SHORT[database]
    single, bulk = f"enqueue {database}/", f"bulk {database}/"
    memory, pickup = f"memory {database}/", f"pickup {database}/"
    pick_p50, idle = (4.0, 1.0) if database == _PG else (10.0, 2.0)
    return (
        Ratio(
            f"{short}: enqueue over a bare insert and commit",
            single + enqueueing.PENSTOCK, (single + enqueueing.BARE,), 0.8,
        ),
        Ratio(
            f"{short}: bulk enqueue over bare COPY or executemany",
            bulk + enqueueing.PENSTOCK, (bulk + enqueueing.BARE_BULK,), 0.3,
        ),
        Limit(f"{short}: enqueue p99 beside two busy workers, ms", f"loaded {database}/p99", 20.0),
        Limit(f"{short}: pick-up p50, ms", pickup + "p50", pick_p50),
        *((Limit(f"{short}: pick-up p99, ms", pickup + "p99", 15.0),) if database == _PG else ()),
        Limit(f"{short}: idle worker, % of a core", f"idle {database}/{standing.IDLE}", idle),
        Ratio(
            f"{short}: memory at the end over memory after the first jobs",
            memory + standing.MEMORY_END, (memory + standing.MEMORY_FIRST,), most=1.2,
        ),
        _flat("history", database, flat.HISTORY, "large history"),
        _flat("backlog", database, flat.BACKLOG, "large backlog"),
    )  # fmt: skip


_SNAPSHOT = Ratio(
    "PostgreSQL: last part of a drain over the first, another client's snapshot held open",
    f"snapshot {_PG}/{flat.LAST}",
    (f"snapshot {_PG}/{flat.FIRST}",),
    0.8,
)
ALL: tuple[Target, ...] = (*_on_postgres(), *_on_sqlite(), *_on_both(_PG), _SNAPSHOT, *_on_both(_LITE))


def verdicts(figures: Figures) -> list[Verdict]:
    """What came out for each target, in order."""
    return [_judge(target, figures) for target in ALL]


def _judge(target: Target, figures: Figures) -> Verdict:
    parts = target.either if isinstance(target, Either) else (target,)
    values = [(part, part.value(figures)) for part in parts]
    known = [(part, value) for part, value in values if value is not None]
    asked = " or ".join(_asked(part) for part in parts)
    if not known:
        return Verdict(target.what, "", asked, "not measured")
    met = any(_meets(part, value) for part, value in known)
    return Verdict(
        target.what, " and ".join(part.shown(value) for part, value in known), asked, "met" if met else "not met"
    )


def _asked(part: Ratio | Limit) -> str:
    return f"at least {part.least:g}" if part.least is not None else f"at most {part.most:g}"


def _meets(part: Ratio | Limit, value: float) -> bool:
    return (part.least is None or value >= part.least) and (part.most is None or value <= part.most)

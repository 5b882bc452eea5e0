"""Runs of actors as values, read so that what Apify adds tomorrow does no harm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final, Self

from haulwright.errors import InvalidValue
from haulwright.sources.vendor import RemoteRun, moment, number, whole

SUCCEEDED: Final = "SUCCEEDED"
TERMINAL: Final = frozenset({SUCCEEDED, "FAILED", "TIMED-OUT", "ABORTED"})
CLOCK_SECOND: Final = timedelta(seconds=1)
"""A `Date` header has no fraction: a run that has just begun may seem to begin after it."""
LEAST_MEMORY_MBYTES: Final = 128
MOST_MEMORY_MBYTES: Final = 32_768


@dataclass(frozen=True, slots=True)
class ActorRun(RemoteRun):
    """One run, as it stood when it was looked at."""

    success_status = SUCCEEDED
    terminal_statuses = TERMINAL

    id: str
    actor_id: str
    status: str
    dataset_id: str
    """Where its items are. A run that did not succeed may have left some too."""
    store_id: str
    """Where its input is kept."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    status_message: str = ""
    exit_code: int | None = None
    build_number: str = ""
    usage_usd: float | None = None
    """What it costs so far. Within some seconds after its end the figure may still grow."""
    seen_at: datetime | None = None
    """When it was looked at, by the clock of Apify itself."""
    adopted: bool = False
    """It was found after its start was interrupted, instead of being started a second time."""

    @property
    def age_seconds(self) -> float | None:
        """How long ago it began when it was looked at, by Apify's clock alone; None where Apify does not say."""
        if self.seen_at is None or self.started_at is None or self.seen_at < self.started_at - CLOCK_SECOND:
            return None
        return max(0.0, (self.seen_at - self.started_at).total_seconds())

    @classmethod
    def parse(cls, document: Any, date: str = "") -> Self:
        """Read a run; ValueError where it has no id or no status. `date` is the header of the answer it stands in."""
        if not isinstance(document, Mapping) or not _text(document, "id") or not _text(document, "status"):
            raise ValueError("a run has an id and a status")
        return cls(
            id=_text(document, "id"),
            actor_id=_text(document, "actId") or _text(document, "actorId"),
            status=_text(document, "status"),
            dataset_id=_text(document, "defaultDatasetId"),
            store_id=_text(document, "defaultKeyValueStoreId"),
            started_at=moment(document.get("startedAt")),
            finished_at=moment(document.get("finishedAt")),
            status_message=_text(document, "statusMessage"),
            exit_code=whole(document.get("exitCode")),
            build_number=_text(document, "buildNumber"),
            usage_usd=number(document.get("usageTotalUsd")),
            seen_at=_http_date(date),
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run may cost at most. Without a figure, the actor's own default holds."""

    timeout_seconds: int | None = None
    """After so long Apify itself ends the run."""
    memory_mbytes: int | None = None
    """A power of two from 128 to 32768."""
    max_items: int | None = None
    """How many items are charged at most. More may be found: cap them when you read."""
    max_total_charge_usd: float | None = None
    """What the run may cost in all."""
    build: str | None = None

    def __post_init__(self) -> None:
        for name in ("timeout_seconds", "max_items", "max_total_charge_usd"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidValue(name, value, "must be more than nothing")
        memory = self.memory_mbytes
        if memory is not None and not (LEAST_MEMORY_MBYTES <= memory <= MOST_MEMORY_MBYTES and memory.bit_count() == 1):
            raise InvalidValue("memory_mbytes", memory, "must be a power of two from 128 to 32768")

    def params(self) -> dict[str, str]:
        """As Apify reads them."""
        named = {
            "timeout": self.timeout_seconds,
            "memory": self.memory_mbytes,
            "maxItems": self.max_items,
            "maxTotalChargeUsd": self.max_total_charge_usd,
            "build": self.build,
        }
        return {name: str(value) for name, value in named.items() if value is not None}


def _http_date(text: str) -> datetime | None:
    """The moment of a `Date` header; None for anything else."""
    try:
        parsed = parsedate_to_datetime(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""

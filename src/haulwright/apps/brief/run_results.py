"""What the scheduled jobs came to: the outcome of the jobs that did their work, and how many rows these processed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Permanent, State
from haulwright.engine.join import JOIN_LIMIT

if TYPE_CHECKING:
    from haulwright.client.join import JobOutcome
    from haulwright.clock import Instant

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ENDED_WELL: Final = frozenset({State.SUCCEEDED, State.SKIPPED})
_UNDER_WAY: Final = frozenset({State.QUEUED, State.RUNNING})


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What an ingestion came to: its feeds by outcome, and their entries by what became of them."""

    rows: int
    """Entries that were processed."""
    feeds: int
    read: int
    unchanged: int
    failed: int
    waiting: int
    """Feeds that were not read in time: their host wants to be left alone, or nobody had a hand free."""
    new: int
    edited: int
    repeated: int
    refused: int


@dataclass(frozen=True, slots=True)
class TenantsResult:
    """What a job came to that does its work once for each tenant."""

    rows: int
    """Articles that were processed."""
    tenants: int


def join_all(ctx: Context, job_ids: Sequence[str], until: Instant | None = None) -> Iterator[JobOutcome[Any]]:
    """Wait for jobs of any tenant, as many as a join may have at once at a time, without holding a worker."""
    moment = None if until is None else _EPOCH + timedelta(microseconds=until)
    for start in range(0, len(job_ids), JOIN_LIMIT):
        yield from ctx.join(job_ids[start : start + JOIN_LIMIT], any_tenant=True, until=moment)


def ingest_result(outcomes: Iterable[JobOutcome[Any]]) -> IngestResult:
    """What an ingestion came to. One in which no feed was read has failed, and so does its run."""
    counts = dict.fromkeys(("entries", "feeds", "read", "unchanged", "failed", "waiting"), 0)
    articles = dict.fromkeys(("new", "edited", "repeated", "refused"), 0)
    for outcome in outcomes:
        if outcome.state is State.SKIPPED:
            continue  # the feed was switched off meanwhile
        counts["feeds"] += 1
        if outcome.succeeded:
            fetch: dict[str, Any] = outcome.value()
            counts[fetch["outcome"]] += 1
            counts["entries"] += fetch["entries"]
            articles = {name: count + fetch[name] for name, count in articles.items()}
        else:
            counts["waiting" if outcome.state in _UNDER_WAY else "failed"] += 1
    rows = counts.pop("entries")
    if counts["feeds"] and not counts["read"] + counts["unchanged"]:
        message = f"None of {counts['feeds']} feeds was read: {counts['failed']} failed, {counts['waiting']} wait."
        raise Permanent(message, hint="See why with: haulwright brief list --failing")
    return IngestResult(rows, **counts, **articles)


def tenants_result(outcomes: Iterable[JobOutcome[Any]], rows_of: str | None = None) -> TenantsResult:
    """What was done for all tenants; `rows_of` names the rows in the results. Where it failed for one, it failed."""
    rows, tenants, failed = 0, 0, []
    for outcome in outcomes:
        tenants += 1
        if outcome.state not in _ENDED_WELL:
            failed.append(outcome.last_id)
        elif outcome.result is not None:
            rows += outcome.result[rows_of] if rows_of else outcome.result
    if failed:
        message = f"For {len(failed)} of {tenants} tenants it was not done."
        raise Permanent(message, hint=f"See why with: haulwright job why {failed[0]}")
    return TenantsResult(rows, tenants)

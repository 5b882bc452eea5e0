"""What is written of compiles, their sources and paid runs: rows, each beside the event that tells of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from haulwright import Cancelled
from haulwright.apps.brands.evidence.status import SourceOutcome
from haulwright.apps.brands.rows import PaidRun
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright.application import Writing
    from haulwright.sources.apify import ActorRun

COMPILE_REQUESTED: Final = "brand.compile_requested"
SOURCE_SETTLED: Final = "brand.source_settled"
COMPILED: Final = "brand.compiled"
COMPILE_FAILED: Final = "brand.compile_failed"
RUN_STARTED: Final = "brand.run_started"
RUN_ENDED: Final = "brand.run_ended"
RUN_FETCHED: Final = "brand.run_fetched"
RUN_NORMALIZED: Final = "brand.run_normalized"
RAW_PRUNED: Final = "brand.raw_pruned"
REMOVED: Final = "brand.removed"
SOURCE_REMOVED: Final = "brand.source_removed"
UPDATED: Final = "brand.updated"


def lock_brand(writing: Writing, tenant: str, brand_id: str, connection_id: str | None = None) -> None:
    """Be the only one that writes for a brand until the transaction ends; nobody writes for one that is removed.

    Nor for a source of it that is removed, where one is named.
    """
    if not writing.run("brands.hold", tenant=tenant, id=brand_id):
        raise Cancelled("The brand is being removed.")
    if connection_id is not None and not writing.run("connections.hold", tenant=tenant, id=connection_id):
        raise Cancelled("The source is being removed.")


def record_outcome(
    writing: Writing, tenant: str, compile_run_id: str, outcome: SourceOutcome, job_id: str | None
) -> None:
    """Write what became of a source of a compile; where something is recorded already, that stands."""
    fields = asdict(outcome)
    row = {name: value for name, value in fields.items() if name != "source"}
    if writing.run("sources.record", tenant=tenant, compile_run_id=compile_run_id, **row):
        data = {"compile_run_id": compile_run_id, **fields}
        writing.record(Event(SOURCE_SETTLED, tenant, job_id, data=data))


def record_start(writing: Writing, run: PaidRun, actor_run: ActorRun) -> PaidRun | None:
    """Write down that a run has begun, and return it so; None where it is over, or gone."""
    key = {"tenant": run.tenant, "id": run.id}
    start = {"actor_run_id": actor_run.id, "dataset_id": actor_run.dataset_id, "status": actor_run.status}
    if not writing.run("runs.started", **key, **start):
        return None
    started = PaidRun.of(writing.run("runs.get", **key)[0])
    record_run_event(writing, RUN_STARTED, started, cap=started.cap, status=started.status)
    return started


def record_run_event(writing: Writing, name: str, run: PaidRun, **data: Any) -> None:
    """Record a step of a paid run beside its row, for whoever follows it here or at Apify."""
    identity = {
        "apify_run_id": run.id,
        "connection_id": run.connection_id,
        "actor": run.actor,
        "actor_run_id": run.actor_run_id,
    }
    writing.record(Event(name, run.tenant, run.job_id, data={**identity, **data}))

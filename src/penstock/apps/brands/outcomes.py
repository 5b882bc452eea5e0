"""What became of the sources of a compile: written once, beside the event that tells of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.brands.evidence import SourceOutcome
from penstock.apps.brands.rows import PaidRun
from penstock.errors import Cancelled
from penstock.events import Event

if TYPE_CHECKING:
    from penstock.apps.tables import Writing
    from penstock.sources.apify import Run

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


def hold(writing: Writing, tenant: str, brand_id: str) -> None:
    """Be the only one that writes for a brand until the transaction ends; nobody writes for one that is removed."""
    if not writing.run("brands.hold", tenant=tenant, id=brand_id):
        raise Cancelled("The brand is being removed.")


def record(writing: Writing, tenant: str, compile_run_id: str, told: SourceOutcome, job_id: str | None) -> None:
    """Write what became of a source of a compile; where something is recorded already, that stands."""
    row = asdict(told)
    del row["source"]
    if writing.run("sources.record", tenant=tenant, compile_run_id=compile_run_id, **row):
        data = {"compile_run_id": compile_run_id, **asdict(told)}
        writing.tell(Event(SOURCE_SETTLED, tenant, job_id, data=data))


def record_start(writing: Writing, run: PaidRun, begun: Run) -> PaidRun | None:
    """Write down that a run has begun, and return it so; None where it is over, or gone."""
    named = {"tenant": run.tenant, "id": run.id}
    seen = {"apify_run_id": begun.id, "dataset_id": begun.dataset_id, "status": begun.status}
    if not writing.run("runs.started", **named, **seen):
        return None
    made = PaidRun.of(writing.run("runs.get", **named)[0])
    tell_of_run(writing, RUN_STARTED, made, cap=made.cap, status=made.status)
    return made


def tell_of_run(writing: Writing, name: str, run: PaidRun, **data: Any) -> None:
    """Record a step of a paid run beside its row, for whoever follows it here or at Apify."""
    known = {
        "run_id": run.id,
        "connection_id": run.connection_id,
        "actor": run.actor,
        "apify_run_id": run.apify_run_id,
    }
    writing.tell(Event(name, run.tenant, run.job_id, data={**known, **data}))

"""A request for a compile: one row and one job each, together or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.apps.brands.model.prompts import rules_of
from haulwright.apps.brands.records import COMPILE_REQUESTED
from haulwright.apps.brands.rows import CompileRun
from haulwright.engine.ids import new_id
from haulwright.engine.names import check_key, check_name
from haulwright.errors import Conflict, InvalidValue, NotFound

if TYPE_CHECKING:
    from haulwright.application import Writing
    from haulwright.apps.brands.jobs import BrandJobs

LONGEST_WORD_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What is asked for. Checked when it is made."""

    tenant: str
    brand_id: str
    force_refresh: bool = False
    prompt_version: str = "v1"
    model: str | None = None
    """None is a compile without a model."""
    request_id: str | None = None
    """The same request is carried out once. None is a new one."""

    def __post_init__(self) -> None:
        if not isinstance(self.force_refresh, bool):
            raise InvalidValue("force_refresh", self.force_refresh, "is neither True nor False")
        for what, word in (("prompt_version", self.prompt_version), ("model", self.model)):
            if word is not None and len(check_name(what, word)) > LONGEST_WORD_CHARS:
                raise InvalidValue(what, word, f"is longer than {LONGEST_WORD_CHARS} characters")
        rules_of(self.prompt_version)
        if self.request_id is not None:
            check_key("request_id", self.request_id)


def record_request(writing: Writing, jobs: BrandJobs, request: CompileRequest, run_id: str | None = None) -> CompileRun:
    """Write a compile and its job, and return it, or the one that the same request made before.

    Few statements, and none that reads back what is known: people wait for this while workers are busy.
    """
    request_id, run_id = request.request_id or new_id(), run_id or new_id()
    job_key = f"brands.compile:{request_id}"
    options = {
        "brand_id": request.brand_id,
        "force_refresh": request.force_refresh,
        "prompt_version": request.prompt_version,
        "model": request.model,
    }
    rows = writing.run(
        "compiles.ask", tenant=request.tenant, id=run_id, request_id=request_id, job_key=job_key, **options
    )
    if not rows:
        return _former(writing, request, request_id)
    data = {"compile_run_id": run_id, "request_id": request_id, **options}
    job = writing.enqueue_with_event(jobs.compile(request.tenant, run_id, job_key), COMPILE_REQUESTED, data)
    return CompileRun(
        request.tenant, run_id, request.brand_id, job.id, request_id, request.force_refresh, request.prompt_version,
        request.model, evidence_status=None, error=None, error_class=None, created_at=rows[0][0], started_at=None,
        finished_at=None,
    )  # fmt: skip


def _former(writing: Writing, request: CompileRequest, request_id: str) -> CompileRun:
    """The compile that a request stands for already, which must have been the same request."""
    if not writing.run("brands.get", tenant=request.tenant, id=request.brand_id):
        raise NotFound("brand", request.brand_id)
    (row,) = writing.run("compiles.by_request", tenant=request.tenant, request_id=request_id)
    run = CompileRun.of(row)
    former = (str(run.brand_id), run.force_refresh, run.prompt_version, run.model)
    if former != (request.brand_id, request.force_refresh, request.prompt_version, request.model):
        message = f"The request {request_id!r} was made before, and asked for something else."
        raise Conflict(message, hint=f"Give another request id, or see: haulwright job show {run.job_id}")
    return run

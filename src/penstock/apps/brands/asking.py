"""Asking for a compile: one row and one job a request, together or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.apps.brands.outcomes import COMPILE_REQUESTED
from penstock.apps.brands.prompts import rules_of
from penstock.apps.brands.rows import CompileRun
from penstock.engine.ids import new_id
from penstock.engine.task import check_key, check_name
from penstock.errors import Conflict, InvalidValue, NotFound

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.tables import Writing

LONGEST_WORD_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class CompileAsk:
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


def ask(brands: Brands, asked: CompileAsk, run_id: str | None = None) -> CompileRun:
    """Write a compile and its job, and return it; the one of the same request, where that was made before.

    Few statements, and none that reads back what is known: people wait for this while workers are busy.
    """
    request_id = asked.request_id or new_id()
    row = {
        "brand_id": asked.brand_id,
        "force_refresh": asked.force_refresh,
        "prompt_version": asked.prompt_version,
        "model": asked.model,
    }

    def work(writing: Writing) -> CompileRun | str:
        key = f"brands.compile:{request_id}"
        named = {"tenant": asked.tenant, "id": run_id or new_id(), "request_id": request_id, "job_key": key}
        asked_at = writing.run("compiles.ask", **named, **row)
        if not asked_at:
            return _standing(writing, asked, request_id)
        task = brands.compile_task.using(tenant=asked.tenant, job_key=key, correlation_id=named["id"])
        data = {"compile_run_id": named["id"], "request_id": request_id, **row}
        made = writing.enqueue_told(task.call(named["id"]), COMPILE_REQUESTED, data)
        return CompileRun(
            asked.tenant, named["id"], asked.brand_id, made.id, request_id, asked.force_refresh, asked.prompt_version,
            asked.model, evidence_status=None, error=None, error_class=None, created_at=asked_at[0][0], started_at=None,
            finished_at=None,
        )  # fmt: skip

    made = brands.tables.transact(work)
    return brands.compile_run(asked.tenant, made) if isinstance(made, str) else made


def _standing(writing: Writing, asked: CompileAsk, request_id: str) -> str:
    """The compile that a request stands for already, which must have been the same request."""
    if not writing.run("brands.get", tenant=asked.tenant, id=asked.brand_id):
        raise NotFound("brand", asked.brand_id)
    ((_, run_id, brand_id, job_id, _, force, prompt, model, *_),) = writing.run(
        "compiles.by_request", tenant=asked.tenant, request_id=request_id
    )
    before = (str(brand_id), bool(force), prompt, model)
    if before != (asked.brand_id, asked.force_refresh, asked.prompt_version, asked.model):
        message = f"The request {request_id!r} was made before, and asked for something else."
        raise Conflict(message, hint=f"Give another request id, or see: penstock job show {job_id}")
    return str(run_id)

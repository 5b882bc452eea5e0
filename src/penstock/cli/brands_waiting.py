"""Waiting for a compile, with its sources as a bar."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from penstock.errors import JobFailed, ResultTimeout

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.brands.rows import CompileRun, CompileStatus
    from penstock.cli.output import Out

LOOK_EVERY_SECONDS = 0.25


def wait_for_compile(out: Out, brands: Brands, run: CompileRun, timeout: float | None) -> CompileStatus:
    """Wait until a compile is over, and return how it ended. It goes on where time or patience do not suffice."""
    looks = _looks(brands, run, timeout)
    try:
        begun = next(standing for standing in looks if standing.sources or standing.run.is_over)
        for _ in out.progress(_ends(chain([begun], looks)), "sources", len(begun.sources)):
            pass
    except KeyboardInterrupt:
        out.note("Nobody waits for it any more. The compile goes on.")
        out.next_step(f"penstock brand status {run.id} --tenant {run.tenant}")
        raise
    return brands.status(run.tenant, run.id)


def require_success(told: CompileStatus) -> None:
    """Raise where a compile did not succeed."""
    run = told.run
    if run.status != "succeeded":
        error = {"class": run.error_class, "message": run.error} if run.error else None
        raise JobFailed(run.job_id or run.id, run.status, None, error)


def _looks(brands: Brands, run: CompileRun, timeout: float | None) -> Iterator[CompileStatus]:
    """How the compile stands, now and again until it is over."""
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        standing = brands.status(run.tenant, run.id)
        yield standing
        if standing.run.is_over:
            return
        left = LOOK_EVERY_SECONDS if until is None else until - time.monotonic()
        if left <= 0:
            raise ResultTimeout(run.job_id or run.id, standing.run.status, timeout or 0)
        time.sleep(min(left, LOOK_EVERY_SECONDS))


def _ends(looks: Iterable[CompileStatus]) -> Iterator[str]:
    """Each source once, as soon as its outcome is seen."""
    seen: set[str] = set()
    for standing in looks:
        ended = [one.connection_id for one in standing.sources if one.outcome and one.connection_id not in seen]
        seen.update(ended)
        yield from ended

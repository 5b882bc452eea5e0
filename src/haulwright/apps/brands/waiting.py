"""Waiting for a compile, with its sources as a bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from haulwright import JobFailed
from haulwright.client.waiting import looks
from haulwright.errors import ResultTimeout

if TYPE_CHECKING:
    from haulwright import Principal
    from haulwright.apps.brands.application import Brands
    from haulwright.apps.brands.rows import CompileRun, CompileStatus
    from haulwright.cli.kit.output import Out

LOOK_EVERY_SECONDS = 0.25


def wait_for_compile(
    out: Out, brands: Brands, principal: Principal, run: CompileRun, timeout: float | None
) -> CompileStatus:
    """Wait until a compile is over, and return how it ended. It goes on where time or patience do not suffice."""
    statuses = _statuses(brands, principal, run, timeout)
    try:
        first = next(status for status in statuses if status.sources or status.run.is_over)
        for _ in out.progress(_ends(chain([first], statuses)), "sources", len(first.sources)):
            pass
    except KeyboardInterrupt:
        out.note("Nobody waits for it any more. The compile goes on.")
        out.next_step(f"haulwright brand status {run.id} --tenant {run.tenant}")
        raise
    return brands.status(principal, run.id)


def require_success(status: CompileStatus) -> None:
    """Raise where a compile did not succeed."""
    run = status.run
    if run.status != "succeeded":
        error = {"class": run.error_class, "message": run.error} if run.error else None
        raise JobFailed(run.job_id or run.id, run.status, None, error)


def _statuses(brands: Brands, principal: Principal, run: CompileRun, timeout: float | None) -> Iterator[CompileStatus]:
    """How the compile stands, now and again until it is over."""
    for status, is_last in looks(lambda: brands.status(principal, run.id), timeout, every=LOOK_EVERY_SECONDS):
        yield status
        if status.run.is_over:
            return
        if is_last:
            raise ResultTimeout(run.job_id or run.id, status.run.status, timeout or 0)


def _ends(statuses: Iterable[CompileStatus]) -> Iterator[str]:
    """Each source once, as soon as its outcome is seen."""
    ids: set[str] = set()
    for status in statuses:
        ended = [each.connection_id for each in status.sources if each.outcome and each.connection_id not in ids]
        ids.update(ended)
        yield from ended

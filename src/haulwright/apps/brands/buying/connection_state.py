"""How a source stands when a refresh looks at it, and what is to be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.apps.brands.buying.freshness import Freshness, freshness
from haulwright.apps.brands.rows import BrandConnection, CompileRun, PaidRun
from haulwright.clock import Instant

if TYPE_CHECKING:
    from haulwright.application import Tables


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """One connection as it stands, for one compile or for nobody."""

    connection: BrandConnection
    compile_run: CompileRun | None
    unfinished: PaidRun | None
    """The unfinished run of the connection, whoever began it."""
    is_owned: bool
    """Whether the job that the unfinished run belongs to is active."""
    newest: PaidRun | None
    """The newest run whose items are here, other than what this job brought in itself."""
    finished: PaidRun | None
    """What this job brought in before it was interrupted."""
    now: Instant
    is_forced: bool = False
    """Forced without a compile, for whoever asks for one source alone."""

    @property
    def forced_at(self) -> Instant | None:
        """Since when a run must have begun, where a refresh is forced."""
        if self.compile_run is not None and self.compile_run.force_refresh:
            return self.compile_run.created_at
        return self.now if self.is_forced else None

    def freshness(self, fresh_seconds: float) -> Freshness:
        """Whether the source is to be bought, and why."""
        return freshness(self.newest, self.now, fresh_seconds, self.forced_at)

    def can_adopt(self, run: PaidRun, fresh_seconds: float) -> bool:
        """Whether a run that a dead job left is young enough to be gone on with."""
        return not freshness(run, self.now, fresh_seconds, self.forced_at).should_refresh


def read_state(
    tables: Tables,
    connection: BrandConnection,
    compile_run: CompileRun | None = None,
    *,
    is_forced: bool = False,
    job_id: str | None = None,
) -> ConnectionState:
    """How a connection stands now, for a job or for whoever asks."""
    key = {"tenant": connection.tenant, "connection_id": connection.id}
    rows = tables.read("runs.standing", **key, job_id=job_id)
    runs = {row[1]: (PaidRun.of(row[3:]), bool(row[2])) for row in rows if row[1] is not None}
    unfinished, is_owned = runs.get("unfinished", (None, False))
    newest, _ = runs.get("newest", (None, False))
    finished, _ = runs.get("finished", (None, False))
    return ConnectionState(
        connection, compile_run, unfinished, is_owned, newest, finished, now=rows[0][0], is_forced=is_forced
    )

"""How a source stands when a refresh looks at it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.apps.brands.rows import CompileRun, Connection, PaidRun
from penstock.clock import Instant


@dataclass(frozen=True, slots=True)
class Visit:
    """What a refresh is about: one connection as it stands, for one compile or for nobody."""

    connection: Connection
    compiled: CompileRun | None
    run: PaidRun | None
    """The unfinished run of the connection, whoever began it."""
    run_is_kept: bool
    """Whether the job that it belongs to is active."""
    newest: PaidRun | None
    """The newest run whose items are here, other than what this job brought in itself."""
    brought: PaidRun | None
    """What this job brought in before it was interrupted."""
    now: Instant
    forced: bool = False
    """Forced without a compile, for whoever asks for one source alone."""

    @property
    def forced_at(self) -> Instant | None:
        """Since when a run must have begun, where a refresh is forced."""
        if self.compiled is not None and self.compiled.force_refresh:
            return self.compiled.created_at
        return self.now if self.forced else None

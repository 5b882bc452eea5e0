"""What is asked of a gate, and what it answers."""

from __future__ import annotations

from typing import NamedTuple

from haulwright.clock import SECOND
from haulwright.engine.job import LeaseKey
from haulwright.engine.source import gate_name


class Requester(NamedTuple):
    """Somebody who wants to make one request: a job under its fence, or somebody outside any job."""

    holder: LeaseKey
    back: bool = False
    """It comes back at the turn that it was given."""


class Admission(NamedTuple):
    """The right to make one request, from a moment on. A permit comes with it where the source has few of them."""

    key: str
    ticket: int
    holder: LeaseKey
    delay_us: int = 0
    """How long after the answer it begins."""
    heard: float = 0.0
    """When the answer came, by the monotonic clock of this process."""
    is_probe: bool = False
    """It is the one request by which an open breaker finds out how the server is."""

    @property
    def starts(self) -> float:
        """From when on it may be used, by the monotonic clock of this process."""
        return self.heard + self.delay_us / SECOND


class Denial(NamedTuple):
    """Not now: which gate is closed, and after how long the requester may come back."""

    key: str
    gate: str
    wait_us: int

    @property
    def name(self) -> str:
        """What a job waits on."""
        return gate_name(self.key, self.gate)


class Release(NamedTuple):
    """How a request ended, as far as it speaks of the server."""

    outcome: str
    """ok, failed, auth, answered (it says nothing, but there was an answer), or ignored."""
    park_seconds: float = 0.0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0
    counts: bool = True
    """False where no request was made."""

    @property
    def is_quiet(self) -> bool:
        """Whether it says nothing that others must know at once."""
        return self.outcome not in ("failed", "auth") and self.park_seconds <= 0


class Leaving(NamedTuple):
    """A right that is given back."""

    admission: Admission
    release: Release


class ClaimedAdmissions:
    """What jobs of this process got with their claim and have not used yet."""

    def __init__(self) -> None:
        self._unused: dict[LeaseKey, Admission] = {}
        self._claims_here = False
        self._looked_up: LeaseKey | None = None

    def claiming(self) -> None:
        """This process claims by itself: what its jobs got is here, or they got nothing."""
        self._claims_here = True

    def keep(self, lease: LeaseKey, admission: Admission) -> None:
        """A job got this with its claim."""
        self._unused[lease] = admission

    def take(self, lease: LeaseKey) -> Admission | None:
        """What a job got, once."""
        return self._unused.pop(lease, None)

    def is_elsewhere(self, lease: LeaseKey) -> bool:
        """Whether another process claimed the job, and the database has not been asked yet what it got; once."""
        if self._claims_here or self._looked_up == lease:
            return False
        self._looked_up = lease
        return True

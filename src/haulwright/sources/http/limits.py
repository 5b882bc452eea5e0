"""Limits: how long a call may take and how much may come back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from haulwright.engine.durations import Duration, seconds
from haulwright.errors import InvalidValue

KIB: Final = 1024
MIB: Final = 1024 * KIB
MOST_REDIRECTS: Final = 20
LARGEST_HEADER_BYTES: Final = 100 * KIB
"""What the protocol reader holds at most, whatever is asked for."""
LONGEST_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may cost. Times are seconds, or words such as "30 s"."""

    connect: Duration = 10.0
    """Looking up the name, connecting, and the TLS handshake."""
    read: Duration = 30.0
    """Between two pieces of the answer."""
    write: Duration = 30.0
    """Between two pieces of the request."""
    pool: Duration = 30.0
    """Waiting for a free connection."""
    total: Duration = 60.0
    """All of it, from the gate to the last byte, redirects included."""
    body_bytes: int = 32 * MIB
    """The body after it is unpacked."""
    wire_bytes: int = 32 * MIB
    """The body as it travels."""
    ratio: int = 100
    """How many bytes one byte on the wire may unfold into, once a body is larger than a megabyte."""
    header_bytes: int = 64 * KIB
    """All headers of one answer together."""
    redirects: int = 5
    """How many are followed."""
    timeouts: dict[str, float] = field(init=False, repr=False, compare=False)
    """The time-out of each phase, in seconds."""
    total_seconds: float = field(init=False, repr=False, compare=False)
    """The whole call, in seconds."""

    def __post_init__(self) -> None:
        for name in ("connect", "read", "write", "pool", "total"):
            length = seconds(getattr(self, name), what=f"limits.{name}", minimum=0.001, maximum=LONGEST_SECONDS)
            object.__setattr__(self, name, length)
        phases = {name: getattr(self, name) for name in ("connect", "read", "write", "pool")}
        object.__setattr__(self, "timeouts", phases)
        object.__setattr__(self, "total_seconds", self.total)
        self._check("body_bytes", 1, None)
        self._check("wire_bytes", 1, None)
        self._check("ratio", 1, None)
        self._check("header_bytes", 1, LARGEST_HEADER_BYTES)
        self._check("redirects", 0, MOST_REDIRECTS)

    def _check(self, name: str, least: int, most: int | None) -> None:
        """Refuse a count out of its range."""
        value = getattr(self, name)
        if (
            not isinstance(value, int)
            or isinstance(value, bool)
            or value < least
            or (most is not None and value > most)
        ):
            upper = "" if most is None else f" to {most}"
            raise InvalidValue(f"limits.{name}", value, f"must be a whole number from {least}{upper}")

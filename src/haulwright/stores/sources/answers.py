"""What a statement at a gate answered: to each who asked, and to who left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.engine.source import SourceState
from haulwright.events import Event
from haulwright.stores.connection import Row
from haulwright.stores.sources.admission import Admission, Denial, Release, Requester

Answer = Admission | Denial


class Terms(NamedTuple):
    """On which terms a gate is asked."""

    lease_seconds: float | None
    """How long a permit lasts that belongs to no run."""
    patience: float
    fenced: bool
    lasting: bool = True


def answers_of(key: str, requesters: Sequence[Requester], state: SourceState) -> list[Answer]:
    """Who got through and from when on, and who comes back after how long. Those who came first are served first."""
    first_ticket = state.tickets - state.granted + 1
    heard = time.monotonic()
    answers: list[Answer] = [
        Admission(key, first_ticket + place, holder, delay_us, heard, state.is_probe(holder))
        for place, ((holder, _), delay_us) in enumerate(zip(requesters, state.delays_us(), strict=False))
    ]
    denied = len(requesters) - state.granted
    if denied:
        gate = state.refusal().gate
        waits = [0] * denied if gate == "permits" else state.turns_us(denied)
        answers += [Denial(key, gate, wait_us) for wait_us in waits]
    return answers


def wants_permit(answers: Sequence[Answer]) -> bool:
    """Whether some of those who asked have no permit, so that those whose holders are gone are looked for."""
    return isinstance(answers[-1], Denial) and answers[-1].gate == "permits"


def release_events(key: str, row: Row, park_us: int) -> list[Event]:
    """What the end of a request changed, where it changed something."""
    breaker, changed, open_until, streak, parked_until, now, _ = row
    record = []
    if changed and breaker == "closed":
        record.append(Event(events.SOURCE_BREAKER_CLOSED, DEFAULT_TENANT, data={"source": key}))
    elif changed:
        gate = "credential" if breaker == "refused" else "breaker"
        seconds = None if breaker == "refused" else (open_until - now) / SECOND
        data = {"source": key, "gate": gate, "seconds": seconds, "failure_streak": streak}
        record.append(Event(events.SOURCE_BREAKER_OPENED, DEFAULT_TENANT, data=data))
    if park_us and parked_until == now + park_us:
        data = {"source": key, "seconds": park_us / SECOND}
        record.append(Event(events.SOURCE_PARKED, DEFAULT_TENANT, data=data))
    return record


def closed_again(admission: Admission, release: Release, row: Row) -> Denial | None:
    """How long a breaker is open again whose probe this was, and failed."""
    breaker, _, open_until, _, _, now, _ = row
    if not admission.is_probe or release.outcome != "failed" or breaker != "open":
        return None
    return Denial(admission.key, "breaker", open_until - now)

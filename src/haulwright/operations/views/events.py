"""The JSON of an event, and of a page of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from haulwright.operations.times import iso, time_of_day
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from haulwright.events import Event
    from haulwright.stores.paging import Page


class EventView(TypedDict):
    """An event. `seq` is null for one that was read from the row of its job."""

    name: str
    at: str | None
    tenant: str
    job_id: str | None
    attempt: int | None
    fence: int | None
    worker: str | None
    actor: str | None
    data: dict[str, Any]
    seq: int | None


class EventPageView(TypedDict):
    """A page of events, and where the next one starts."""

    events: list[EventView]
    next: str | None


def event_view(event: Event) -> EventView:
    """An event."""
    return {
        "name": event.name,
        "at": iso(event.at),
        "tenant": event.tenant,
        "job_id": event.job_id,
        "attempt": event.attempt,
        "fence": event.fence,
        "worker": event.worker,
        "actor": event.actor,
        "data": dict(event.data),
        "seq": event.seq,
    }


def events_view(page: Page[Event]) -> EventPageView:
    """A page of events."""
    return {"events": [event_view(event) for event in page.rows], "next": page.next}


def event_author(event: Event) -> str:
    """Who did it: a principal, else a worker."""
    return event.actor or event.worker or ""


def event_words(event: Event, *, without: frozenset[str] = frozenset({"job_id"})) -> str:
    """What an event carries, as `name=value` words; the lines of code behind an error are for programs."""
    hidden = without | {"error_frames"}
    fields = [(name, value) for name, value in event.data.items() if name not in hidden]
    return " ".join(f"{name}={value}" for name, value in fields if value is not None and value != "")


_SHOWN_BESIDE = frozenset({"job_id", "attempt", "worker"})

EVENT_COLUMNS: Final[tuple[Column[Event], ...]] = (
    Column("when", lambda event: event.at, moment=True),
    Column("utc", lambda event: time_of_day(event.at), optional=4),
    Column("event", lambda event: event.name),
    Column("tenant", lambda event: event.tenant, optional=2),
    Column("job", lambda event: event.job_id or "", optional=3),
    Column("by", event_author, optional=1),
    Column("what", event_words),
)
"""Events of many jobs."""

TIMELINE_COLUMNS: Final[tuple[Column[Event], ...]] = (
    Column("event", lambda event: event.name),
    Column("when", lambda event: event.at, moment=True),
    Column("attempt", lambda event: event.attempt or ""),
    Column("fence", lambda event: event.fence or "", optional=1),
    Column("by", event_author, optional=2),
    Column("what", lambda event: event_words(event, without=_SHOWN_BESIDE)),
)
"""Events of one job."""

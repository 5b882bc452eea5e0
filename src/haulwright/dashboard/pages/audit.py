"""Audit: what happened, who did it and why, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import TypedDict

from haulwright import events as names
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.engine.names import check_name
from haulwright.errors import InvalidValue
from haulwright.operations.event_names import require_event_name
from haulwright.operations.views.events import EventView, event_view

pages = PageRoutes("audit")

ACTS: Final = (
    names.REQUEST_REFUSED, names.JOB_REQUEUED, names.JOB_CANCEL_REQUESTED, names.EFFECT_RESOLVED, names.QUEUE_PAUSED,
    names.QUEUE_RESUMED, names.SCHEDULE_PAUSED, names.SCHEDULE_RESUMED, names.SOURCE_CHANGED, names.SOURCE_PAUSED,
    names.SOURCE_RESUMED, names.TOKEN_CREATED, names.TOKEN_REVOKED,
)  # fmt: skip
"""What people do and are refused, as links above the list."""
_SHOWN_APART: Final = frozenset({"reason", "request_id", "job_id", "tenant_id", "error_frames"})


class AuditLine(TypedDict):
    """An event, with why it was done and in which request, where somebody asked for it."""

    event: EventView
    by: str
    reason: str
    request_id: str
    facts: dict[str, Any]
    """What else it carries."""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Events, the newest first."""

    name: str
    tenant: str
    wrong: str
    """What of the filter cannot be, and what to do about it."""
    events: list[AuditLine]
    names: list[str]
    turns: Turns


@pages.get(
    "/audit", "audit.html", "Audit", verb="event.read", nav=Nav("Audit", key="a"), query=("name", "tenant", *PAGED)
)
def audit(call: PageCall) -> AuditPage:
    """Events by name and tenant, the newest first."""
    name, tenant = call.query.get("name", "").strip(), call.query.get("tenant", "").strip()
    turns = call.turns(name, tenant)
    try:
        checked = require_event_name(name, what="event") if name else None
        owner = check_name("tenant", tenant) if tenant else None
    except InvalidValue as error:
        return AuditPage(name, tenant, str(error), [], list(names.FIELDS), turns)
    page = call.operations.events.page(name=checked, tenant=owner, after=turns.after, limit=turns.limit)
    lines = [_line(event_view(event)) for event in reversed(page.rows)]
    return AuditPage(name, tenant, "", lines, list(names.FIELDS), turns.then(page.next))


def _line(event: EventView) -> AuditLine:
    data = event["data"]
    facts = {
        name: value for name, value in data.items() if name not in _SHOWN_APART and value is not None and value != ""
    }
    return {
        "event": event,
        "by": event["actor"] or event["worker"] or "",
        "reason": str(data.get("reason") or ""),
        "request_id": str(data.get("request_id") or ""),
        "facts": facts,
    }

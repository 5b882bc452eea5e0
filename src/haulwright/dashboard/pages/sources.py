"""Sources: whether each takes requests or what closes it and until when, what it allows, and who waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from haulwright.clock import SECOND
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.engine.durations import seconds, spell
from haulwright.engine.source import GATES, gate_name
from haulwright.engine.why import CLOSED
from haulwright.errors import InvalidValue
from haulwright.operations.filters import FilterWord, require_filter
from haulwright.operations.views.jobs import JobView, job_view
from haulwright.operations.views.sources import SourceView, source_view

if TYPE_CHECKING:
    from haulwright.operations.sources import SourceStatus

pages = PageRoutes("sources")

WAITING: Final = 10
"""Of the jobs that wait for a source, so many are shown."""
_TEXTS: Final = ("rate", "min_interval", "budget", "breaker")
_NUMBERS: Final = ("burst", "concurrency")
_SWITCH: Final = {"yes": True, "no": False}


class SourceLine(TypedDict):
    """A source, and whether it takes requests, in words."""

    source: SourceView
    is_open: bool
    sentence: str
    rate: str
    """What it allows, in words; empty where nothing limits its rate."""
    seconds_per_request: float | None
    """How long a request of the last hour took; None where there was none."""


@dataclass(frozen=True, slots=True)
class SourcesPage:
    """The sources by name."""

    sources: list[SourceLine]
    turns: Turns

    @staticmethod
    def waiting(source: SourceView) -> str:
        """The filter that finds the jobs that wait for it."""
        return _waiting(source["name"])


@dataclass(frozen=True, slots=True)
class SourcePage:
    """One source, and jobs that wait for it."""

    line: SourceLine
    jobs: list[JobView]
    more: bool
    """More jobs wait than these."""
    q: str
    """The filter that finds all of them."""


@pages.get("/sources", "sources.html", "Sources", verb="source.read", nav=Nav("Sources", key="u"), query=PAGED)
def sources(call: PageCall) -> SourcesPage:
    """The sources by name, with the traffic of the last hour."""
    turns = call.turns()
    page = call.operations.sources.page(after=turns.after, limit=turns.limit)
    return SourcesPage([_line(source) for source in page.rows], turns.then(page.next))


@pages.get("/sources/{name:path}", "source.html", "Source", verb="source.read")
def source(call: PageCall) -> SourcePage:
    """One source: what it allows, how it stands, and who waits for it."""
    line = _line(call.operations.sources.get(call.path["name"]))
    query = _waiting(line["source"]["name"])
    if not call.can("job.read"):
        return SourcePage(line, [], more=False, q=query)
    page = call.operations.jobs.page(require_filter(query), limit=WAITING)
    return SourcePage(line, [job_view(job) for job in page.jobs], page.next is not None, query)


@pages.post("/sources/{name:path}/pause", verb="source.pause")
def pause(call: PageCall, form: Form) -> ActionDone:
    """Let no request through, for a time or until it is resumed."""
    name, text = call.path["name"], form.text("for")
    length = seconds(text, what="the time", minimum=1) if text else None
    call.because(form.text("reason")).sources.pause(name, seconds=length)
    until = "until somebody resumes it" if length is None else f"for {spell(length)}"
    return ActionDone(f"The source {name} is paused {until}. Jobs wait without burning attempts.", to=_to(call))


@pages.post("/sources/{name:path}/resume", verb="source.resume")
def resume(call: PageCall, form: Form) -> ActionDone:
    """Open what a person, the breaker, a refused credential or the server closed."""
    name = call.path["name"]
    changed = call.because(form.text("reason")).sources.resume(name)
    text = f"The source {name} takes requests again." if changed else f"The source {name} was open already."
    return ActionDone(text, to=_to(call))


@pages.post("/sources/{name:path}/limits", verb="source.override")
def override(call: PageCall, form: Form) -> ActionDone:
    """Change what a source allows. It holds over what the code says, until it is reset."""
    change: dict[str, Any] = {name: form.text(name) for name in _TEXTS if form.text(name)}
    change |= {name: _number(name, form.text(name)) for name in _NUMBERS if form.text(name)}
    if enabled := form.text("enabled"):
        if enabled not in _SWITCH:
            raise InvalidValue("enabled", enabled[:40], "is neither yes nor no")
        change["enabled"] = _SWITCH[enabled]
    call.because(form.text("reason")).sources.override(call.path["name"], **change)
    return ActionDone(f"The source {call.path['name']} is changed: {', '.join(sorted(change))}.", to=_to(call))


@pages.post("/sources/{name:path}/reset", verb="source.override")
def reset(call: PageCall, form: Form) -> ActionDone:
    """Take back what was changed: the code decides again."""
    call.because(form.text("reason")).sources.reset(call.path["name"])
    return ActionDone(f"The source {call.path['name']} is as its code says.", to=_to(call))


def _to(call: PageCall) -> str:
    return call.link("sources", call.path["name"])


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:  # noqa: PLR2004 - more than anybody allows
        raise InvalidValue(name, text[:40], "is no whole number")
    return int(text)


def _waiting(name: str) -> str:
    return str(FilterWord("waiting_on", tuple(gate_name(name, gate) for gate in GATES)))


def _line(status: SourceStatus) -> SourceLine:
    traffic, figures = status.traffic, status.row.figures
    return {
        "source": source_view(status),
        "is_open": status.row.closing is None and not status.row.unreadable,
        "sentence": _sentence(status),
        "rate": _rate(figures.per_minute, figures.min_interval_us / SECOND),
        "seconds_per_request": round(traffic.busy_seconds / traffic.requests, 3)
        if traffic and traffic.requests
        else None,
    }


def _sentence(status: SourceStatus) -> str:
    """Whether the gate is open, else what closes it, in the words of `why`."""
    row, closing = status.row, status.row.closing
    if row.unreadable:
        return f"It cannot be read by this version: {row.unreadable}"
    if closing is None:
        return "It takes requests." if row.standing.breaker == "closed" else "It is asked again, one request at a time."
    return f"It {CLOSED[closing.gate]} {closing.words(row.standing.asked_at)}."


def _rate(per_minute: float | None, interval_seconds: float) -> str:
    if per_minute:
        return f"{per_minute:g} a minute"
    return f"one in {spell(interval_seconds)}" if interval_seconds else ""

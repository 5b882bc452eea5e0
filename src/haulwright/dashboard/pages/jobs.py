"""Jobs by a filter, which stands in the address: the same words as in `--where` and in the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.engine.transitions import STATE_WORDS
from haulwright.operations.filters import FIELDS, FilterError, parse_filter
from haulwright.operations.views.jobs import JobView, jobs_view

pages = PageRoutes("jobs")

STATES: Final = ("", *STATE_WORDS)


class WrongWord(TypedDict):
    """What of a filter cannot be, and where it stands in the text."""

    before: str
    word: str
    after: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class JobsPage:
    """Jobs, the newest first."""

    q: str
    wrong: WrongWord | None
    jobs: list[JobView]
    turns: Turns
    suggestions: list[str]
    """How words of a filter begin."""


@pages.get("/jobs", "jobs.html", "Jobs", verb="job.read", nav=Nav("Jobs", key="j"), query=("q", *PAGED))
def jobs(call: PageCall) -> JobsPage:
    """Jobs by a filter, the newest first."""
    q = call.query.get("q", "").strip()
    query, turns = parse_filter(q), call.turns(q)
    suggestions = [*(f"state:{state}" for state in STATE_WORDS), *(f"{name}:" for name in FIELDS)]
    if isinstance(query, FilterError):
        return JobsPage(q, _wrong_word(q, query), [], turns, suggestions)
    view = jobs_view(call.operations.jobs.page(query, after=turns.after, limit=turns.limit))
    return JobsPage(q, None, view["jobs"], turns.then(view["next"]), suggestions)


def _wrong_word(text: str, error: FilterError) -> WrongWord:
    """The text in three parts, so that the error can be shown below the word that it is about."""
    begin = min(error.position, len(text))
    place = text.find(error.word, begin)
    end = begin + len(text[begin:].split(maxsplit=1)[0]) if text[begin:].split() else len(text)
    if place >= 0 and place < end:
        begin, end = place, place + len(error.word)
    return {
        "before": text[:begin],
        "word": text[begin:end] or error.word,
        "after": text[end:],
        "message": error.message,
        "hint": error.hint,
    }

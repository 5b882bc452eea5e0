"""Jobs by a filter, which stands in the address: the same words as in `--where` and in the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.engine.transitions import STATE_WORDS
from haulwright.operations.bulk_order import ACT_VERBS, acts_for
from haulwright.operations.filters import FIELDS, FilterError, FilterWord, JobQuery, parse_filter
from haulwright.operations.views.jobs import JobView, jobs_view

pages = PageRoutes("jobs")

MOST_SUGGESTIONS: Final = 50
VALUES: Final[Mapping[str, Sequence[str]]] = {
    "state": STATE_WORDS,
    "flag": ("true", "false"),
    "age": (">5min", ">1h", ">1d", ">7d", "<5min", "<1h", "<1d", "<7d"),
}
"""By the kind of a field."""


class WrongWord(TypedDict):
    """What of a filter cannot be, and where it stands in the text."""

    before: str
    word: str
    after: str
    message: str
    hint: str


class StateChoice(TypedDict):
    """The same filter with another state; an empty one is any."""

    state: str
    q: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class JobsPage:
    """Jobs, the newest first."""

    q: str
    states: list[StateChoice]
    wrong: WrongWord | None
    jobs: list[JobView]
    turns: Turns
    suggestions: list[str]
    """How words of a filter begin."""
    acts: list[str]
    """What can be done to all jobs of the filter."""


class SuggestionView(TypedDict):
    """What a word of a filter may go on with."""

    word: str
    help: str


@dataclass(frozen=True, slots=True)
class WordsPage:
    """What may stand where somebody is writing."""

    words: list[SuggestionView]


@pages.get("/jobs", "jobs.html", "Jobs", verb="job.read", nav=Nav("Jobs", key="j"), query=("q", *PAGED))
def jobs(call: PageCall) -> JobsPage:
    """Jobs by a filter, the newest first."""
    q = call.query.get("q", "").strip()
    query, turns = parse_filter(q), call.turns(q)
    suggestions = [*(f"state:{state}" for state in STATE_WORDS), *(f"{name}:" for name in FIELDS)]
    if isinstance(query, FilterError):
        return JobsPage(q, _state_choices(JobQuery()), _wrong_word(q, query), [], turns, suggestions, [])
    view = jobs_view(call.operations.jobs.page(query, after=turns.after, limit=turns.limit))
    acts: list[str] = [act for act in acts_for(query) if call.can("bulk.start") and call.can(ACT_VERBS[act])]
    return JobsPage(q, _state_choices(query), None, view["jobs"], turns.then(view["next"]), suggestions, acts)


@pages.data("/words", verb="job.read", query=("word",))
def words(call: PageCall) -> WordsPage:
    """What a word of a filter may go on with: fields, and for some of them the values that there are."""
    text = call.query.get("word", "")
    sign, word = ("-", text[1:]) if text.startswith("-") else ("", text)
    name, colon, begun = word.partition(":")
    if colon:
        suggestions = [(f"{name}:{_spelled(value)}", "") for value in _values(call, name) if value.startswith(begun)]
    else:
        suggestions = [(f"{field.name}:", field.help) for field in FIELDS.values() if field.name.startswith(name)]
        suggestions += [("args.", "an argument by its name: args.sku:A1")] if "args.".startswith(name) else []
    shown = suggestions[:MOST_SUGGESTIONS]
    return WordsPage([{"word": f"{sign}{suggestion}", "help": text} for suggestion, text in shown])


def _values(call: PageCall, name: str) -> list[str]:
    """The values that a field may have, where they are few and quickly read."""
    if name == "queue":
        return [queue.name for queue in call.operations.queues.page(limit=MOST_SUGGESTIONS).rows]
    if name == "task":
        return [task.name for task in call.operations.tasks.list()]
    if name == "source" and call.can("source.read"):
        return [source.row.key for source in call.operations.sources.page(limit=MOST_SUGGESTIONS).rows]
    kind = FIELDS[name].kind if name in FIELDS else ""
    return [*VALUES.get(kind, ())]


def _spelled(value: str) -> str:
    """A value as a filter has it: what has spaces goes into quotes."""
    return str(FilterWord("task", (value,))).removeprefix("task:") if " " in value else value


def _state_choices(query: JobQuery) -> list[StateChoice]:
    """The filter with each state in place of its own; its other words stay."""
    others = tuple(word for word in query.words if word.name != "state")
    own = [word for word in query.words if word.name == "state"]
    choices: list[StateChoice] = [{"state": "", "q": str(JobQuery(others)), "is_here": not own}]
    for state in STATE_WORDS:
        word = FilterWord("state", (state,))
        choices.append({"state": state, "q": str(JobQuery((word, *others))), "is_here": own == [word]})
    return choices


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

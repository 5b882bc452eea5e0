"""The one filter language: `state:dead task:price -queue:slow age:>2h args.sku:A1 "no such"`. All words must match.

Bars, URLs, `--where`, the API and bulk verbs read it here. An error is a value: which word, where, why, and what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal

from haulwright.clock import SECOND
from haulwright.engine.durations import seconds
from haulwright.engine.ids import is_id
from haulwright.engine.transitions import RETRYING, STATE_WORDS, State
from haulwright.errors import InvalidValue
from haulwright.operations.times import instant_of
from haulwright.stores.listing import Condition, JobFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from haulwright.clock import Instant

Kind = Literal["name", "state", "id", "tag", "flag", "number", "age", "time"]
Operator = Literal["", "<", ">"]

TEXT: Final = "text"
ARGS: Final = "args."
LONGEST_FILTER_CHARS: Final = 4000
MOST_WORDS: Final = 50
MOST_VALUES: Final = 100


@dataclass(frozen=True, slots=True)
class FilterField:
    """What can stand before a colon."""

    name: str
    kind: Kind
    column: str
    help: str


_TABLE: Final[tuple[tuple[str, Kind, str, str], ...]] = (
    ("id", "id", "", "the job"),
    ("tenant", "name", "", "whose job it is"),
    (
        "state",
        "state",
        "",
        "queued, running, succeeded, dead, cancelled or skipped; retrying: queued, and it ran before",
    ),
    ("queue", "name", "", "its queue"),
    ("task", "name", "", "its task"),
    ("tag", "tag", "", "a tag that it has"),
    ("source", "name", "", "the source that it uses"),
    ("waiting_on", "name", "", "the gate that it waits for"),
    ("reason", "name", "", "why it ended"),
    ("error_code", "name", "", "the code of its last error"),
    ("error_class", "name", "", "the class of its last error"),
    ("correlation_id", "name", "", "its ticket or trace"),
    ("job_key", "name", "", "the key under which its effects are recorded"),
    ("unique_key", "name", "", "the key that keeps it single"),
    ("worker", "id", "worker_id", "the worker that has it, or had it last, by its id"),
    ("requeued_from", "id", "", "the dead letter that it goes on from"),
    ("requeued", "flag", "requeued_to", "whether somebody requeued it: true or false"),
    ("attempts", "number", "", "how often it ran"),
    ("losses", "number", "", "how many runs were lost with their workers"),
    ("deferrals", "number", "", "how often it was put off"),
    ("priority", "number", "", "from -100 to 100"),
    ("age", "age", "created_at", "how long ago it was enqueued"),
    ("created", "age", "created_at", "the same"),
    ("started", "age", "started_at", "how long ago it first ran"),
    ("finished", "age", "finished_at", "how long ago it ended"),
    ("due", "age", "run_at", "how long ago it became due"),
    ("heartbeat", "age", "heartbeat_at", "how long ago its run was last heard of"),
    ("created_after", "time", "created_at", "enqueued after a moment"),
    ("created_before", "time", "created_at", "enqueued before a moment"),
    ("finished_after", "time", "finished_at", "ended after a moment"),
    ("finished_before", "time", "finished_at", "ended before a moment"),
)
FIELDS: Final = {name: FilterField(name, kind, column or name, text) for name, kind, column, text in _TABLE}
"""Every field. Beside them there is `args.` with the path of an argument, and free text."""

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*(?=:)")
_PATH: Final = re.compile(r"(?:[A-Za-z_][\w-]*|\d{1,6})(?:\.(?:[A-Za-z_][\w-]*|\d{1,6}))*")
_BARE: Final = re.compile(r'[^\s,"]+')
_BARE_TEXT: Final = re.compile(r'[^\s"]+')
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLAIN: Final = re.compile(r'(?![<>])[^\s,"\\]+')
_AS_FIELD: Final = frozenset(
    {"tenant", "queue", "task", "tag", "correlation_id", "job_key", "error_code", "error_class", "waiting_on",
     "source", "requeued_from"}
)  # fmt: skip
"""Fields that a `JobFilter` has itself, for one value."""


@dataclass(frozen=True, slots=True)
class FilterError:
    """What is wrong with a filter, and where."""

    position: int
    """The place of the wrong word in the text, counted from 0."""
    word: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FilterWord:
    """One word of a filter, checked."""

    name: str
    """A field, `args.` with a path, or `text`."""
    values: tuple[str, ...]
    """One of them must match."""
    operator: Operator = ""
    negated: bool = False
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        sign = "-" if self.negated else ""
        if self.name == TEXT:
            return sign + _quoted(self.values[0])
        return f"{sign}{self.name}:{self.operator}{','.join(_spelled(value) for value in self.values)}"


@dataclass(frozen=True, slots=True)
class JobQuery:
    """A filter of jobs, checked. As text it is what `parse_filter` reads."""

    words: tuple[FilterWord, ...] = ()

    def __str__(self) -> str:
        return " ".join(str(word) for word in self.words)

    def job_filter(self, now: Instant) -> JobFilter:
        """What it means at a moment: ages become times."""
        plain: dict[str, Any] = {}
        conditions: list[Condition] = []
        for word in self.words:
            single = not word.negated and len(word.values) == 1 and word.name not in plain
            if single and word.name in _AS_FIELD:
                plain[word.name] = word.values[0]
            elif single and word.name == "state" and word.values[0] != RETRYING:
                plain["state"] = State(word.values[0])
            else:
                conditions.append(_condition(word, now))
        return JobFilter(**plain, conditions=tuple(conditions))


def parse_filter(text: str) -> JobQuery | FilterError:
    """The filter that a text says, or what is wrong with it."""
    try:
        if len(text) > LONGEST_FILTER_CHARS:
            _refuse(0, text[:20], f"is longer than {LONGEST_FILTER_CHARS} characters")
        if (strange := _UNSTORABLE.search(text)) is not None:
            _refuse(strange.start(), strange[0], "is a character that no row has")
        return _checked(_Reader(text).words())
    except _WrongWord as wrong:
        return wrong.error


def require_filter(*texts: str, what: str = "filter", more: Mapping[str, str | None] | None = None) -> JobQuery:
    """The filter of several texts and of single fields by name, or InvalidValue."""
    fields = [str(FilterWord(name, (value,))) for name, value in (more or {}).items() if value is not None]
    query = parse_filter(" ".join([*texts, *fields]))
    if isinstance(query, FilterError):
        where = f"{query.message} (at character {query.position + 1})"
        raise InvalidValue(what, query.word, where, hint=query.hint)
    return query


class _WrongWord(Exception):
    def __init__(self, error: FilterError) -> None:
        self.error = error


def _refuse(position: int, word: str, message: str, hint: str = "") -> Any:
    raise _WrongWord(FilterError(position, word, message, hint))


class _Reader:
    """Reads words from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def words(self) -> list[FilterWord]:
        words: list[FilterWord] = []
        while self._skip_spaces():
            words.append(self._word())
            if len(words) > MOST_WORDS:
                _refuse(words[-1].position, str(words[-1]), f"is one word more than {MOST_WORDS}")
        return words

    def _skip_spaces(self) -> bool:
        while self._place < len(self._text) and self._text[self._place].isspace():
            self._place += 1
        return self._place < len(self._text)

    def _word(self) -> FilterWord:
        start = self._place
        negated = self._take("-")
        name = _NAME.match(self._text, self._place)
        if name is None:
            return self._free_text(start, negated=negated)
        self._place = name.end() + 1
        operator: Operator = "<" if self._take("<") else ">" if self._take(">") else ""
        values = [self._value(start)]
        while self._take(","):
            values.append(self._value(start))
        self._end_of_word(start)
        return FilterWord(name[0], tuple(values), operator, negated, start)

    def _free_text(self, start: int, *, negated: bool) -> FilterWord:
        value = self._match(start, _BARE_TEXT)
        self._end_of_word(start)
        left, equals, right = value.partition("=")
        if equals and (left in FIELDS or left.startswith(ARGS)):
            _refuse(start, self._text[start : self._place], "is no filter", f"Write {left}:{right}")
        return FilterWord(TEXT, (value,), "", negated, start)

    def _value(self, start: int) -> str:
        return self._match(start, _BARE)

    def _match(self, start: int, bare: re.Pattern[str]) -> str:
        quoted = _QUOTED.match(self._text, self._place)
        if quoted is not None:
            self._place = quoted.end()
            return re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
        match = bare.match(self._text, self._place)
        if match is None:
            word = self._text[start:].split()[0]
            if self._text[self._place : self._place + 1] == '"':
                _refuse(start, word, "has a quote that is not closed", 'Write "two words"; a quote inside is \\"')
            _refuse(start, word, "has no value", "Write field:value; what has spaces goes into quotes.")
        assert match is not None  # noqa: S101 - refused above
        self._place = match.end()
        return match[0]

    def _take(self, sign: str) -> bool:
        is_next = self._text.startswith(sign, self._place)
        self._place += len(sign) if is_next else 0
        return is_next

    def _end_of_word(self, start: int) -> None:
        if self._place < len(self._text) and not self._text[self._place].isspace():
            word = self._text[start:].split()[0]
            _refuse(start, word, "goes on after its value", "Put a space between words, quotes around whole values.")


def _checked(words: list[FilterWord]) -> JobQuery:
    seen: set[str] = set()
    for word in words:
        _check(word)
        single = word.name in FIELDS and FIELDS[word.name].kind in {"name", "state", "id", "flag"} and not word.negated
        if single and word.name in seen:
            hint = f"One job has one: write {word.name}:a,b for either of two."
            _refuse(word.position, str(word), f"gives {word.name} a second time", hint)
        if single:
            seen.add(word.name)
    return JobQuery(tuple(words))


def _check(word: FilterWord) -> None:
    """Refuse a word whose field is none, whose operator does not go with it, or whose value makes no sense."""
    at, text = word.position, str(word)
    if word.name.startswith(ARGS):
        if not _PATH.fullmatch(word.name.removeprefix(ARGS)) or word.operator:
            _refuse(at, text, "is no argument and value", "Write args.name:value or args.name.inner:value.")
    elif word.name != TEXT and word.name not in FIELDS:
        near = get_close_matches(word.name, [*FIELDS, "args"], n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Fields are: {', '.join(FIELDS)}, args.NAME."
        _refuse(at, word.name, "is no field to filter by", hint)
    elif word.name != TEXT:
        _check_operator(word, FIELDS[word.name].kind)
        for value in word.values:
            _check_value(word, FIELDS[word.name].kind, value)
    if len(word.values) > MOST_VALUES:
        _refuse(at, word.name, f"has more than {MOST_VALUES} values")


def _check_operator(word: FilterWord, kind: Kind) -> None:
    if kind == "age" and not word.operator:
        hint = f"{word.name}:>2h is more than two hours, {word.name}:<2h less."
        _refuse(word.position, str(word), "says neither more nor less", hint)
    if word.operator and kind not in {"age", "number"}:
        _refuse(word.position, str(word), f"compares {word.name}, which has no order", f"Write {word.name}:value.")
    if len(word.values) > 1 and (word.operator or kind in {"time", "flag"}):
        _refuse(word.position, str(word), "has several values where one is compared")


def _check_value(word: FilterWord, kind: Kind, value: str) -> None:
    at, text = word.position, str(word)
    if kind == "state" and value not in STATE_WORDS:
        near = get_close_matches(value, STATE_WORDS, n=1)
        hint = f"Did you mean {near[0]}?" if near else ""
        _refuse(at, value, f"is no state; there are {', '.join(STATE_WORDS)}", hint)
    elif kind == "id" and not is_id(value):
        _refuse(at, text, "is no id")
    elif kind == "flag" and value not in {"true", "false"}:
        _refuse(at, text, "is neither true nor false")
    elif kind == "number" and not re.fullmatch(r"-?\d{1,9}", value):
        _refuse(at, text, "is no whole number")
    elif kind in {"age", "time"}:
        _require_time(word, kind, value)


def _require_time(word: FilterWord, kind: Kind, value: str) -> None:
    read: Callable[..., object] = seconds if kind == "age" else instant_of
    try:
        read(value, what=word.name)
    except InvalidValue as error:
        _refuse(word.position, str(word), error.why, error.hint)


def _condition(word: FilterWord, now: Instant) -> Condition:
    if word.name == TEXT:
        return Condition(TEXT, "in", word.values, word.negated)
    if word.name.startswith(ARGS):
        return Condition("args", "in", word.values, word.negated, tuple(word.name.removeprefix(ARGS).split(".")))
    field = FIELDS[word.name]
    if field.kind == "age":
        # more than two hours ago is before that moment
        moment = now - round(seconds(word.values[0], what=word.name) * SECOND)
        return Condition(field.column, "<" if word.operator == ">" else ">", (moment,), word.negated)
    if field.kind == "time":
        operator: Literal["<", ">"] = ">" if word.name.endswith("_after") else "<"
        return Condition(field.column, operator, (instant_of(word.values[0], what=word.name),), word.negated)
    if field.kind == "flag":
        return Condition(field.column, "in", (), word.negated is (word.values[0] == "true"))
    values: tuple[str | int, ...] = tuple(int(v) for v in word.values) if field.kind == "number" else word.values
    return Condition(field.column, word.operator or "in", values, word.negated)


def _spelled(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else _quoted(value)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

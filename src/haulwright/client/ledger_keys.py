"""The keys under which a run does things once: which calls are the same, and which are refused rather than guessed."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from enum import Enum
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from haulwright.engine.keys import JobKey, effect_key
from haulwright.engine.payload import DEPTH_LIMIT
from haulwright.errors import InvalidPayload, InvalidValue

if TYPE_CHECKING:
    from haulwright.engine.job import NewJob

CALLS_LIMIT = 10_000
"""How many first calls one run remembers; what it calls beyond them is not compared."""
VALUES_LIMIT = 1_000_000
"""How many values the arguments of one call may be made of, where they are no JSON as they stand."""
CAPTURE_DEPTH = 3
"""How deep functions are looked at that captured functions."""
COMMIT = "commit:"
"""How the name of a commit begins in the ledger."""

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


class LedgerKeys:
    """The keys of the effects and commits of one run."""

    def __init__(self, job_key: str) -> None:
        self._job_key = JobKey(job_key)
        self._first_calls: dict[str, list[object]] = {}
        """What was first called in this run under a key that does not tell all of it."""

    def effect(self, name: str, key: str | None, arguments: Arguments) -> str:
        """The key of an effect: its own where it has one, else its name and its arguments."""
        if key is not None:
            return effect_key(self._job_key, "key", key)
        return self._of_arguments("effect", name, name, arguments)

    def commit(self, name: str, key: str | None, arguments: Arguments, *, settle: bool) -> str:
        """The key of a commit: its name with its own key or its arguments.

        One that settles the job has its name alone: it is the last, so there is none to be told from, and what it
        writes may be large.
        """
        if settle and key is None:
            return effect_key(self._job_key, f"{COMMIT}{name}", None)
        if key is not None:
            return effect_key(self._job_key, f"{COMMIT}{name}", key)
        return self._of_arguments("commit", name, f"{COMMIT}{name}", arguments)

    def require_same_function(self, noun: str, name: str, key: str, function: Callable[..., Any]) -> None:
        """Refuse a call without arguments under a name that this run used for another function, or another closure.

        Its key would be that of the first, and it would be answered with the first one's result.
        """
        why = "was called before in this run without arguments, with another function or other captured values"
        hint = "Pass what differs as an argument, or give each call a key= or a name of its own."
        self._require_same(key, _captured(function), InvalidValue(noun, name, why, hint=hint))

    def require_same_jobs(self, name: str, jobs: Sequence[NewJob]) -> None:
        """Refuse other jobs under a name under which this run enqueued some: it would get the handles of the first."""
        why = "enqueued other jobs before in this run"
        hint = "Give each a name of its own, or enqueue all of them at once."
        facts: list[object] = [(job.tenant, job.task, job.args) for job in jobs]
        self._require_same(f"enqueue_many:{name}", facts, InvalidValue("enqueue_many", name, why, hint=hint))

    def _require_same(self, key: str, identity: list[object], refusal: InvalidValue) -> None:
        first = self._first_calls.get(key)
        if first is None:
            if len(self._first_calls) < CALLS_LIMIT:
                self._first_calls[key] = identity
        elif len(first) != len(identity) or not all(map(_is_same, first, identity)):
            raise refusal

    def _of_arguments(self, noun: str, name: str, recorded_name: str, arguments: Arguments) -> str:
        args, kwargs = arguments
        try:
            return effect_key(self._job_key, recorded_name, [list(args), dict(kwargs)])
        except InvalidPayload:
            pass  # dataclasses and models have a JSON form too, which takes longer to make
        try:
            return effect_key(self._job_key, recorded_name, _JsonForm().of([args, kwargs]))
        except InvalidPayload as error:
            why = f"its arguments have no canonical JSON: {error.why}"
            hint = f"Give the {noun} a key= of its own that tells it from the others of this job."
            raise InvalidPayload(f"{noun} {name!r}", why, hint=hint) from None


class _JsonForm:
    """The JSON form of arguments that JSON alone has no place for: of dataclasses, models, moments, exact numbers."""

    def __init__(self) -> None:
        self._left = VALUES_LIMIT

    def of(self, value: Any, depth: int = 0) -> Any:
        """A value with all that is in it; what has no such form stays as it is, and is refused where it is checked."""
        self._left -= 1
        if self._left < 0 or depth > DEPTH_LIMIT:
            raise InvalidPayload("arguments", "are too many or too deep")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        elif hasattr(type(value), "__pydantic_serializer__"):
            value = value.model_dump()
        if isinstance(value, Mapping):
            return {key: self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(item, depth + 1) for item in value]
        return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    return str(value) if isinstance(value, Decimal | UUID) else value


def _captured(function: Callable[..., Any], depth: int = 0) -> list[object]:
    """What tells a function from another: its code, and what it has captured at this moment."""
    if isinstance(function, partial):
        return [*_captured(function.func, depth), *function.args, *sorted(function.keywords.items())]
    if inspect.ismethod(function):
        return [*_captured(function.__func__, depth), function.__self__]
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or depth == CAPTURE_DEPTH:
        return [function]
    plain: Any = function
    cells = [_content(cell, depth) for cell in plain.__closure__ or ()]
    defaults = [*(plain.__defaults__ or ()), *(plain.__kwdefaults__ or {}).values()]
    return [code, *cells, *defaults]


def _content(cell: Any, depth: int) -> object:
    try:
        value = cell.cell_contents
    except ValueError:  # nothing was put into it yet
        return None
    return tuple(_captured(value, depth + 1)) if inspect.isfunction(value) else value


def _is_same(first: object, second: object) -> bool:
    """Whether two captured values are one, or equal. What cannot be compared is not held against anybody."""
    if first is second:
        return True
    try:
        return bool(first == second)
    except Exception:  # noqa: BLE001 - the comparison is somebody's own code
        return True

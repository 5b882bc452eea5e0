"""Kinds of values on the command line: times, lengths of time, job ids, JSON. What makes no sense is refused here."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import click

from haulwright.cli.kit.verbs import JOB_ID_TYPE
from haulwright.engine.durations import seconds
from haulwright.engine.ids import is_id
from haulwright.errors import InvalidValue, NotFound, Refused
from haulwright.operations.event_names import require_event_name
from haulwright.operations.times import instant_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHOWN_CHARS: Final = 200
"""How much of a value an error repeats."""
LAST: Final = "last"
"""The word for the newest job."""
SHORTEST_TAIL: Final = 4
_TAIL: Final = re.compile(rf"[0-9a-f-]{{{SHORTEST_TAIL},35}}")


class _Kind(click.ParamType):  # type: ignore[type-arg] # generic in newer versions of click only
    """A kind of value."""


class DurationParam(_Kind):
    """A length of time in words; the value is its seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ARG002
        """Seconds."""
        return seconds(value, what=_flag(param))


class InstantParam(_Kind):
    """A moment with its zone; the value is its microseconds since 1970 UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ARG002
        """Microseconds."""
        return value if isinstance(value, int) else instant_of(value, what=_flag(param))


class JobIdParam(_Kind):
    """The id of a job, the end of one, or `last`; which job that is, is looked up when the command has its database."""

    name = JOB_ID_TYPE

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The id."""
        text = str(value).strip().lower()
        if text != LAST and not is_id(text) and not _TAIL.fullmatch(text):
            hint = f"Give its id, at least {SHORTEST_TAIL} letters of its end, or {LAST}. See them: haulwright job list"
            raise NotFound("job", repr(value), hint=hint)
        return text

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """The newest jobs."""
        from haulwright.cli.kit.completion import complete_job  # noqa: PLC0415 - only where a shell asks

        return complete_job(ctx, incomplete)


class EventNameParam(_Kind):
    """The name of an event."""

    name = "event"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The name."""
        return require_event_name(str(value), what=_flag(param))


class JsonParam(_Kind):
    """A JSON text, checked and kept as text."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The text."""
        try:
            json.loads(value)
        except (ValueError, RecursionError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            hint = "Text needs its quotes: '\"text\"'"
            raise InvalidValue(_flag(param), value[:SHOWN_CHARS], f"is no JSON: {why}", hint=hint) from None
        return str(value)


DURATION = DurationParam()
EVENT_NAME = EventNameParam()
INSTANT = InstantParam()
JOB_ID = JobIdParam()
JSON = JsonParam()


def task_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - as above
    """The tasks that a shell offers."""
    from haulwright.cli.kit.completion import complete_task  # noqa: PLC0415 - as above

    return complete_task(ctx, incomplete)


def pairs(texts: tuple[str, ...], *, what: str, hint: str = "", conceal: bool = False) -> dict[str, str]:
    """`name=value` texts as a dictionary; one without = or given twice is refused, with `conceal` not quoting it."""
    values: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        name, equals, value = text.partition("=")
        if not equals or not name:
            place = f"number {number}" if conceal else repr(text)
            raise Refused(f"{what}: {place} is not of the form name=value.", hint=hint)
        if name in values:
            raise InvalidValue(what, name, "is given a second time")
        values[name] = value
    return values


def _flag(param: click.Parameter | None) -> str:
    return max(param.opts, key=len) if param is not None else "value"

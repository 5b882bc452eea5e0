"""Which jobs: the filter that lists, counts and bulk verbs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, TypeVar

import click

from penstock.cli.params import pairs
from penstock.cli.times import instant_of
from penstock.engine.ids import is_id
from penstock.engine.transitions import State
from penstock.errors import InvalidValue
from penstock.stores.listing import JobFilter

F = TypeVar("F", bound=Callable[..., Any])

NAMES = tuple(field.name for field in fields(JobFilter))
_TIMES = ("finished_before", "created_after")
_TRUTH = {"true": True, "false": False}


def filter_options(function: F) -> F:
    """Add the options that narrow a list of jobs."""
    for option in (
        click.option("--where", multiple=True, metavar="NAME=VALUE", help=f"Any field: {', '.join(NAMES)}."),
        click.option("--error-code", metavar="CODE", help="Only those whose last error has this code."),
        click.option("--tag", help="Only those with this tag."),
        click.option("--tenant", help="Only those of this tenant."),
        click.option("--task", help="Only those of this task."),
        click.option("--queue", help="Only those in this queue."),
    ):
        function = option(function)
    return function


def job_filter(where: tuple[str, ...], **options: Any) -> JobFilter:
    """The filter that the options describe; what is no field of a job is refused."""
    said = {name: _value(name, text) for name, text in pairs(where, what="--where").items()}
    for name, value in options.items():
        if value is None or value is False:
            continue
        if name in said:
            raise InvalidValue("--where", name, f"is given a second time by --{name.replace('_', '-')}")
        said[name] = State(value) if name == "state" else value
    return JobFilter(**said)


def _value(name: str, text: str) -> Any:
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Fields are: {', '.join(NAMES)}."
        raise InvalidValue("--where", name, "is no field to filter by", hint=hint)
    if name in _TIMES:
        return instant_of(text, what=f"--where {name}")
    if name == "state" and text not in set(State):
        raise InvalidValue("--where state", text, f"is no state; there are {', '.join(State)}")
    if name == "not_requeued" and text not in _TRUTH:
        raise InvalidValue("--where not_requeued", text, "is neither true nor false")
    if name == "requeued_from" and not is_id(text):
        raise InvalidValue("--where requeued_from", text, "is no job id")
    return {"state": State, "not_requeued": _TRUTH.__getitem__}.get(name, str)(text)

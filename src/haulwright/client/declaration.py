"""What can be a task: slips that would show only when the first job runs, or never, are refused when it is declared."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from haulwright.errors import InvalidValue

_LAMBDA: Final = "<lambda>"
_OF_METHODS: Final = frozenset({"self", "cls"})
_CONTEXT: Final = "ctx"
_SPELLED_CONTEXT: Final = frozenset({"Context", "haulwright.Context"})
"""The annotation as text, under `from __future__ import annotations`."""


def require_function(function: Callable[..., Any], name: str | None) -> str:
    """Refuse what cannot run as a task; returns the name that its jobs go by."""
    if isinstance(function, staticmethod | classmethod):
        why = "is a method of a class"
        raise InvalidValue("task", _shown(function), why, hint="Write a function outside the class.")
    if not callable(function):
        hint = "Write @app.task above a function; options have names: @app.task(queue=...)."
        raise InvalidValue("task", function, "is no function", hint=hint)
    if inspect.isclass(function):
        raise InvalidValue("task", function.__name__, "is a class", hint="Write a function that makes or calls it.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        hint = "Return a list, or enqueue a job for each: app.enqueue_many(...)."
        raise InvalidValue("task", _shown(function), "is a generator: a call of it runs nothing", hint=hint)
    _require_parameters(function)
    own = str(name or getattr(function, "__name__", _LAMBDA))
    if own == _LAMBDA:
        why = "has no name, and workers find a task by its name"
        raise InvalidValue("task", _shown(function), why, hint="Write def, or give it one: name='prices.fetch'.")
    return own


def _require_parameters(function: Callable[..., Any]) -> None:
    parameters = [*inspect.signature(function).parameters.values()]
    for place, parameter in enumerate(parameters):
        bare = parameter.annotation is inspect.Parameter.empty
        if place == 0 and bare and parameter.name in _OF_METHODS and "." in getattr(function, "__qualname__", ""):
            hint = "Write a function, or decorate the method of an object: app.task(...)(shop.price)."
            raise InvalidValue(
                "task", _shown(function), f"is a method: {parameter.name} would be an argument", hint=hint
            )
        if place == 0 and bare and parameter.name == _CONTEXT:
            hint = "Write: from haulwright import Context, and ctx: Context. A parameter of another meaning: ctx: dict."
            raise InvalidValue("task", _shown(function), "does not say what ctx is", hint=hint)
        if place > 0 and _is_context(parameter.annotation):
            why = f"takes the context as {parameter.name}, which is not its first parameter"
            raise InvalidValue("task", _shown(function), why, hint=f"Write it first: ({parameter.name}: Context, ...).")


def _is_context(annotation: Any) -> bool:
    return (
        annotation in _SPELLED_CONTEXT if isinstance(annotation, str) else hasattr(annotation, "__haulwright_context__")
    )


def _shown(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or function)

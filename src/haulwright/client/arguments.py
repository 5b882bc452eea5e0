"""Arguments and results: from Python values to canonical JSON and back, by the annotations of a function."""

from __future__ import annotations

import inspect
import json
import sys
import typing
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from types import NoneType, SimpleNamespace, UnionType
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from haulwright.engine.payload import ARGS_LIMIT_BYTES, check, plain_text
from haulwright.errors import InvalidPayload, InvalidValue

_CONFIG = ConfigDict(extra="forbid", ser_json_inf_nan="constants", ser_json_bytes="base64", val_json_bytes="base64")
_SCALARS: frozenset[type] = frozenset({str, int, bool, NoneType})
_LOOSE: tuple[tuple[Any, type], ...] = ((dict, dict), (dict[str, Any], dict), (list, list), (list[Any], list))
"""Annotations that ask nothing of what is inside."""
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Values:
    """One type: how its values become JSON, and come back."""

    def __init__(self, hint: Any, what: str) -> None:
        self._what = what
        self._annotation = "any JSON value" if hint is Any else getattr(hint, "__name__", None) or str(hint)
        self._plain_types = _plain_types_of(hint)
        try:
            self._adapter = _adapter(Any if hint is NoneType else hint)
        except PydanticUserError as error:
            why = f"has no JSON form: {_first_line(error)}"
            raise InvalidValue(what, hint, why, hint="Use JSON types, dataclasses or pydantic models.") from None

    def dump(self, value: Any, limit_bytes: int) -> str:
        """Canonical JSON of a value; refuses what cannot be stored identically everywhere."""
        if type(value) in self._plain_types:
            text = plain_text(value, limit_bytes=limit_bytes)
            if text is not None:
                return text
        try:
            (plain,) = self._adapter.dump_python((value,), mode="json", warnings="error")
        except Exception:  # noqa: BLE001 - pydantic raises several kinds here, all meaning the same, and quotes the value
            why = f"a value of type {type(value).__name__} does not fit its annotation or has no JSON form"
            hint = f"It is annotated as {self._annotation}: return such a value, or annotate what is returned."
            raise InvalidPayload(self._what, why, hint=hint) from None
        return check(plain, root=self._what, limit_bytes=limit_bytes)

    def load(self, text: str) -> Any:
        """The value behind a JSON text."""
        return self._adapter.validate_json(f"[{text}]")[0]


_results: WeakKeyDictionary[Callable[..., Any], Values] = WeakKeyDictionary()
"""By function, for those that effects and commits call: to resolve annotations takes longer than to write a row."""


def values_of_result(function: Callable[..., Any]) -> Values:
    """How a function's result is kept: by its return annotation, else as plain JSON.

    One that cannot be resolved is refused, before anything is done: whoever wrote it does not expect plain JSON.
    """
    inner = function.func if isinstance(function, partial) else function
    inner = getattr(inner, "__func__", inner)  # a bound method is made anew at every look
    try:
        values = _results.get(inner)
        if values is None:
            values = _results[inner] = _annotated_result(inner)
    except TypeError:  # an object that cannot be referred to weakly
        return _annotated_result(inner)
    return values


def _annotated_result(function: Callable[..., Any]) -> Values:
    annotations = _annotations_of(function)
    if "return" not in annotations:
        return _any_result()
    hint = _return_hint(function, annotations["return"])
    try:
        return Values(hint, "result")
    except InvalidValue:  # such as a connection: what comes of it is looked at when it is there
        return _any_result()


def _annotations_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The annotations as they stand. Python 3.14 would resolve all of them at a look."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations  # noqa: PLC0415 - new in 3.14

        return get_annotations(function, format=Format.FORWARDREF)
    return getattr(function, "__annotations__", None) or {}


def _return_hint(function: Callable[..., Any], annotation: Any) -> Any:
    """The return annotation, resolved alone: those of parameters may name what only checkers import."""
    parameters = getattr(function, "__type_params__", ())
    alone = SimpleNamespace(__annotations__={"return": annotation}, __type_params__=parameters)
    names = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return typing.get_type_hints(alone, globalns=names)["return"]
    except Exception as error:  # noqa: BLE001 - whatever the text of an annotation comes to
        name = getattr(function, "__qualname__", None) or repr(function)
        why = f"has a return annotation that cannot be resolved: {_first_line(error)}"
        hint = "Import the type outside TYPE_CHECKING and define it in a module, or leave the annotation out."
        raise InvalidValue("function", name, why, hint=hint) from None


@cache
def _any_result() -> Values:
    return Values(Any, "result")


class Signature:
    """What a function takes and returns, as far as the queue is concerned."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self._name = name
        self._parameters = [*inspect.signature(function).parameters.values()]
        for parameter in self._parameters:
            if parameter.kind in _VARIADIC or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                why = "is variadic or has no name of its own"
                raise InvalidValue(f"task {name}", str(parameter), why, hint="Name every argument of a task.")

    @property
    def names(self) -> list[str]:
        """The names of all parameters, the context among them."""
        return [parameter.name for parameter in self._parameters]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The annotations, resolved."""
        try:
            return typing.get_type_hints(self._function, include_extras=True)
        except NameError as error:
            why = f"has an annotation that cannot be resolved: {error}"
            raise InvalidValue("task", self._name, why, hint="Import the type outside TYPE_CHECKING.") from None

    @cached_property
    def takes_context(self) -> bool:
        """Whether the first parameter is the context."""
        if not self._parameters:
            return False
        return bool(getattr(self.hints.get(self._parameters[0].name), "__haulwright_context__", False))

    @property
    def may_take_context(self) -> bool:
        """The same when the function is declared: True also where its annotations cannot be resolved yet."""
        try:
            return self.takes_context
        except InvalidValue:
            return True

    @cached_property
    def result(self) -> Values:
        """The result and its JSON form."""
        return Values(self.hints.get("return", Any), "result")

    def dump(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The arguments of a call as canonical JSON, and as plain values; refuses what does not fit."""
        return self._stored(self._bound(args, kwargs), strict=True)

    def dump_plain(self, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The same for arguments that come as JSON values, from a command line or another language."""
        _, defaults = self._binding
        return self._stored({**defaults, **values}, strict=False)

    def validate_plain(self, values: Mapping[str, Any]) -> None:
        """Refuse JSON values that do not fit the signature. Whether what fits can be stored is another question."""
        _, defaults = self._binding
        self._plain({**defaults, **values}, strict=False)

    def json_schema(self) -> dict[str, Any]:
        """A JSON schema of the arguments by name. Empty, which is anything, where an annotation has none."""
        try:
            schema = self._adapter.json_schema()
        except (PydanticUserError, InvalidValue):
            return {}
        (arguments,) = schema["prefixItems"]
        definitions: dict[str, Any] = schema.get("$defs", {})
        if "$ref" in arguments:
            arguments = definitions.pop(arguments["$ref"].rpartition("/")[2])
        arguments = {**arguments, "properties": self._with_defaults(arguments.get("properties", {}))}
        return {**arguments, "$defs": definitions} if definitions else arguments

    def _with_defaults(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """The same with what each is where nothing is given; a default without a JSON form is left out."""
        described = {name: dict(schema) for name, schema in properties.items()}
        for name, default in self._binding[1].items():
            try:
                text = Values(self.hints.get(name, Any), name).dump(default, ARGS_LIMIT_BYTES)
            except (InvalidPayload, InvalidValue):
                continue
            described[name]["default"] = json.loads(text)
        return described

    def load(self, text: str) -> dict[str, Any]:
        """The arguments of a run."""
        loaded: dict[str, Any] = self._adapter.validate_json(f"[{text}]")[0]
        return loaded

    def _stored(self, values: dict[str, Any], *, strict: bool) -> tuple[str, dict[str, Any]]:
        if strict and self._are_plain(values):
            text = plain_text(values, limit_bytes=ARGS_LIMIT_BYTES)
            if text is not None:
                return text, values
        plain = self._plain(values, strict=strict)
        return check(plain, root="args", limit_bytes=ARGS_LIMIT_BYTES), plain

    def _plain(self, values: dict[str, Any], *, strict: bool) -> dict[str, Any]:
        """The values as JSON has them; refuses what does not fit the annotations."""
        adapter = self._adapter
        try:
            valid = adapter.validate_python((values,), strict=strict)
            plain: dict[str, Any] = adapter.dump_python(valid, mode="json")[0]
        except ValidationError as error:
            path, why = problem_of(error)
            raise InvalidPayload(path, why, hint=self._usage) from None
        except ValueError as error:  # what has no JSON form, such as raw bytes in a model that says nothing of them
            raise InvalidPayload("args", f"have no JSON form: {_first_line(error)}", hint=self._usage) from None
        return plain

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name. `inspect` takes longer than all the rest, so it is only asked to explain a refusal."""
        positional, defaults = self._binding
        if not kwargs and len(args) == len(positional) == len(self._argument_names):
            return dict(zip(positional, args, strict=True))
        passed = {**dict(zip(positional, args, strict=False)), **kwargs}
        values = {**defaults, **passed}
        if (
            len(passed) < len(args) + len(kwargs)
            or len(args) > len(positional)
            or values.keys() != self._argument_names
        ):
            try:
                self._bare.bind(*args, **kwargs)
            except TypeError as error:
                raise InvalidPayload("args", str(error), hint=self._usage) from None
        return values

    @cached_property
    def _binding(self) -> tuple[list[str], dict[str, Any]]:
        """The parameters that may be given by position, and what is taken where nothing is given."""
        parameters = self._bare.parameters.values()
        positional = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        return positional, {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}

    def _are_plain(self, values: dict[str, Any]) -> bool:
        """Whether every value is of just the JSON type that its parameter asks for: nothing to validate or to turn."""
        plain = self._plain_types
        if len(values) != len(plain):
            return False
        for name, value in values.items():  # noqa: SIM110 - all() with its generator takes twice as long
            if type(value) not in plain[name]:
                return False
        return True

    @cached_property
    def _plain_types(self) -> dict[str, frozenset[type]]:
        return {name: _plain_types_of(self.hints.get(name, Any)) for name in self._bare.parameters}

    @cached_property
    def _argument_names(self) -> frozenset[str]:
        return frozenset(self._bare.parameters)

    @property
    def _usage(self) -> str:
        return f"The task is {self._name}{self._bare}."

    @cached_property
    def _bare(self) -> inspect.Signature:
        """The signature without the context."""
        return inspect.Signature(self._parameters[1:] if self.takes_context else self._parameters)

    @cached_property
    def _adapter(self) -> TypeAdapter[tuple[Any]]:
        hints: dict[str, Any] = {}
        for parameter in self._bare.parameters.values():
            hint = self.hints.get(parameter.name, Any)
            required = parameter.default is inspect.Parameter.empty
            hints[parameter.name] = hint if required else typing.NotRequired[hint]
        shape = TypedDict(f"{self._name} arguments", hints)  # type: ignore[misc] # made at run time
        shape.__pydantic_config__ = _CONFIG  # type: ignore[attr-defined]
        try:
            return _adapter(shape)
        except PydanticUserError as error:
            why = f"has an argument without a JSON form: {_first_line(error)}"
            raise InvalidValue("task", self._name, why, hint="Use JSON types, dataclasses or models.") from None


def _plain_types_of(hint: Any) -> frozenset[type]:
    """The types whose plain values stand in JSON as they are under this annotation, without a question to pydantic."""
    if hint is Any:
        return _SCALARS | {dict, list}
    options = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
    loose = {kind for option, kind in _LOOSE if option in options}
    return _SCALARS.intersection(option for option in options if isinstance(option, type)) | loose


def _adapter(hint: Any) -> TypeAdapter[tuple[Any]]:
    """An adapter for one value. Its settings hold only inside a type that has none of its own: hence the tuple."""
    wrapped: Any = tuple.__class_getitem__(hint)
    return TypeAdapter(wrapped, config=_CONFIG)


def problem_of(error: ValidationError) -> tuple[str, str]:
    """Where arguments do not fit, as `args.items.3`, and why. What was given is not repeated: it may be a secret."""
    problems = error.errors(include_url=False, include_input=False)
    problem = problems[0]
    if problem["type"] == "missing":  # one that is there under another name explains it
        problem = next(filter(_is_stray_argument, problems), problem)
    why = "there is no such argument" if _is_stray_argument(problem) else problem["msg"]
    return ".".join(["args", *map(str, problem["loc"][1:])]), why


def _is_stray_argument(problem: ErrorDetails) -> bool:
    """Whether an argument is the trouble that the task does not have, and not a field within one."""
    return problem["type"] == "extra_forbidden" and len(problem["loc"]) == len((0, "argument"))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]

"""How the result of an effect is kept follows from the annotation of its function, looked up once."""

from __future__ import annotations

import functools
import gc
import typing
import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from haulwright import Context, Haulwright
from haulwright.client.arguments import values_of_result
from haulwright.errors import InvalidPayload, InvalidValue


@dataclass
class Price:
    cents: int


class Shop:
    def price(self, cents: int) -> Price:
        return Price(cents)


def price(cents: int) -> Price:
    return Price(cents)


def unresolved() -> Nowhere:  # noqa: F821 - that is the point
    return 1


def of_unresolved(page: Nowhere) -> Price:  # noqa: F821 - as above
    return Price(page)


@functools.wraps(of_unresolved)
def wrapped(*args: Any) -> Price:
    return of_unresolved(*args)


def test_a_result_comes_back_as_its_annotation_says():
    for function in (price, partial(price, 1), Shop().price):
        values = values_of_result(function)

        assert values.load(values.dump(Price(3), 100)) == Price(3)


def test_a_parameter_whose_annotation_cannot_be_resolved_does_not_lose_the_type_of_the_result():
    for function in (of_unresolved, partial(of_unresolved, 1), wrapped):
        assert values_of_result(function).load('{"cents":3}') == Price(3)


def test_a_return_annotation_that_cannot_be_resolved_is_refused_with_what_to_do():
    for function in (unresolved, partial(unresolved)):
        with pytest.raises(InvalidValue, match=r"'unresolved' has a return annotation that .*'Nowhere'") as refused:
            values_of_result(function)

        assert refused.value.hint.startswith("Import the type outside TYPE_CHECKING")


def test_a_function_whose_result_cannot_be_typed_calls_nothing_outside(bench):
    app = bench.use(Haulwright())
    calls = []

    def order() -> Nowhere:  # noqa: F821 - as above
        calls.append(1)

    @app.task(retry=1)
    def buy(ctx: Context) -> None:
        ctx.effect("order", order)

    handle = buy.enqueue()
    bench.drain()

    assert "return annotation" in handle.job().error_message
    assert calls == []


def test_without_an_annotation_it_is_plain_json():
    for function in (lambda: 1, int):
        assert values_of_result(function).load('{"cents":3}') == {"cents": 3}


def test_annotations_are_resolved_once_for_a_function_and_for_all_objects_of_a_method(monkeypatch):
    resolved = []
    resolve = typing.get_type_hints
    monkeypatch.setattr(typing, "get_type_hints", lambda *of, **how: resolved.append(of) or resolve(*of, **how))

    def fresh() -> int:
        return 1

    for _ in range(3):
        values_of_result(fresh)
        values_of_result(partial(fresh))

    assert len(resolved) == 1
    assert values_of_result(Shop().price) is values_of_result(Shop().price)


def test_a_function_that_is_gone_is_not_kept():
    def fresh() -> int:
        return 1

    values_of_result(fresh)
    gone = weakref.ref(fresh)
    del fresh
    gc.collect()

    assert gone() is None


def test_a_result_that_does_not_fit_is_refused_with_its_annotation_and_without_its_value():
    def count() -> int: ...

    with pytest.raises(InvalidPayload, match="a value of type str does not fit its annotation") as refused:
        values_of_result(count).dump("hunter2", limit_bytes=100)

    assert refused.value.hint.startswith("It is annotated as int: return such a value")
    assert "hunter2" not in str(refused.value)

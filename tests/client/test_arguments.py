"""Arguments are checked against the signature when they are enqueued, and again when they are run."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from haulwright import Context, Haulwright, State
from haulwright.engine.payload import ARGS_LIMIT_BYTES
from haulwright.errors import InvalidPayload, InvalidValue

app = Haulwright()


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@dataclass
class Price:
    sku: str
    amount: Decimal


class Order(BaseModel):
    id: UUID
    prices: list[Price]
    due: date | None = None


@app.task()
def ship(ctx: Context, sku: str, count: int = 1, *, note: str = "") -> str:
    return f"{count} x {sku}{note} in attempt {ctx.job.attempts}"


@app.task()
def take(value: Any) -> None:
    """Accept anything that is JSON."""


class Raw(BaseModel):
    body: bytes


class Connection:
    """Something that belongs to this process."""


@pytest.fixture(autouse=True)
def on_the_bench(haulwright):
    haulwright.use(app)


@pytest.mark.proves("JOB-12", "ENQ-01")
def test_a_call_is_stored_as_canonical_json_with_its_defaults(haulwright):
    handle = ship.enqueue("A1", note="!")

    assert handle.job().args == '{"count":1,"note":"!","sku":"A1"}'
    haulwright.drain()
    assert handle.result(0) == "1 x A1! in attempt 1"


@pytest.mark.proves("JOB-12")
@pytest.mark.parametrize(
    ("args", "kwargs", "path"),
    [
        (["A1", "2"], {}, "args.count"),
        ([7], {}, "args.sku"),
        ([b"A1"], {}, "args.sku"),
        (["A1", True], {}, "args.count"),
        (["A1", 1.0], {}, "args.count"),
        (["A1", None], {}, "args.count"),
        ([], {}, "args"),
        (["A1", 1, 2], {}, "args"),
        (["A1"], {"colour": "red"}, "args"),
        (["A1"], {"sku": "B2"}, "args"),
        (["A1\0"], {}, "args.sku"),
        (["\ud800"], {}, "args.sku"),
        (["A1", 2**63], {}, "args.count"),
    ],
)
def test_what_does_not_fit_the_signature_is_refused_before_anything_is_written(haulwright, args, kwargs, path):
    with pytest.raises(InvalidPayload) as refusal:
        ship.enqueue(*args, **kwargs)

    assert refusal.value.path == path
    assert haulwright.all_enqueued() == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"rows": [{"x": 1.0}, {"x": math.nan}]}, "args.value.rows[1].x"),
        ([math.inf], "args.value[0]"),
        ({"deep": {"n": -(2**63) - 1}}, "args.value.deep.n"),
        ({"a\0b": 1}, "args.value"),
        (["ok", "no\0"], "args.value[1]"),
        (object(), "args"),
        ("x" * ARGS_LIMIT_BYTES, "args"),
    ],
)
def test_a_refusal_names_the_field_that_cannot_be_stored(value, path):
    with pytest.raises(InvalidPayload) as refusal:
        take.enqueue(value)

    assert refusal.value.path == path


def test_a_refusal_does_not_repeat_the_value_that_was_given():
    with pytest.raises(InvalidPayload) as refusal:
        ship.enqueue("A1", "my-secret")

    assert "my-secret" not in str(refusal.value)
    assert "ship(sku: 'str', count: 'int' = 1" in refusal.value.hint


@pytest.mark.proves("EF-06", "JOB-12")
def test_models_dataclasses_times_and_bytes_reach_the_run_as_they_were(haulwright):
    order = Order(id=UUID(int=7), prices=[Price("A1", Decimal("9.90"))], due=date(2024, 2, 29))
    given = (order, datetime(2024, 1, 2, 3, 4, 5, 6, UTC), b"\x00\xff", Size.LARGE, (timedelta(days=1), timedelta(0)))
    seen: list[Any] = []

    @app.task(name="remember")
    def remember(order: Order, at: datetime, raw: bytes, size: Size, waits: tuple[timedelta, ...]) -> None:
        seen.extend((order, at, raw, size, waits))

    remember.enqueue(*given)
    haulwright.drain()

    assert tuple(seen) == given


def test_bytes_of_a_model_that_cannot_say_how_are_refused_in_words():
    @app.task(name="raw")
    def raw(value: Raw) -> None: ...

    with pytest.raises(InvalidPayload, match="have no JSON form"):
        raw.enqueue(Raw(body=b"\xff"))


def test_arguments_from_json_are_read_as_a_command_line_would_write_them():
    handle = ship.using(priority=3).enqueue_plain({"sku": "A1", "count": "2"})

    assert json.loads(handle.job().args) == {"sku": "A1", "count": 2, "note": ""}
    with pytest.raises(InvalidPayload, match=r"args\.sku: Field required"):
        ship.using().enqueue_plain({})
    with pytest.raises(InvalidPayload, match=r"args\.colour"):
        ship.using().enqueue_plain({"sku": "A1", "colour": "red"})


@pytest.mark.proves("JOB-16", "RT-10")
def test_stored_arguments_that_no_longer_fit_the_task_end_the_job_at_once(haulwright):
    handle = ship.enqueue("A1")
    newer = Haulwright()

    @newer.task(name="ship")
    def ship_by_number(sku: int) -> None: ...

    with newer.moved_to(haulwright.database_url, clock=haulwright.clock):
        newer.run_worker(until_empty=True)
        job = newer.operations().jobs.get(handle.id)

    assert (job.state, job.reason, job.attempts) == (State.DEAD, "permanent", 1)
    assert job.error_message == (
        "the stored arguments do not fit the task any more: args.sku: "
        "Input should be a valid integer, unable to parse string as an integer"
    )


def test_a_parameter_that_was_added_with_a_default_does_not_break_stored_jobs(haulwright):
    old, new = Haulwright(), Haulwright()

    @old.task(name="greet")
    def greet(name: str) -> str:
        return name

    @new.task(name="greet")
    def greet_politely(name: str, title: str = "Dr") -> str:
        return f"{title} {name}"

    with old.moved_to(haulwright.database_url, clock=haulwright.clock):
        handle = greet.enqueue("No")
    haulwright.use(new)
    haulwright.drain()

    assert new.operations().jobs.get(handle.id).result == '"Dr No"'


@pytest.mark.parametrize("parameters", ["*skus", "**options", "sku, /"])
def test_a_task_names_every_argument(parameters):
    scope: dict[str, Any] = {}
    exec(f"def odd({parameters}): ...", scope)  # noqa: S102 - three signatures that differ in a few characters

    with pytest.raises(InvalidValue, match="is variadic or has no name of its own"):
        app.task()(scope["odd"])


def test_an_annotation_that_cannot_be_resolved_is_refused_at_the_first_enqueue():
    @app.task(name="lost")
    def lost(value: Nowhere) -> None: ...  # noqa: F821 - that is the point

    with pytest.raises(InvalidValue, match="cannot be resolved"):
        lost.enqueue(1)


def test_a_type_without_a_json_form_is_refused_at_the_first_enqueue():
    @app.task(name="odd")
    def odd(connection: Connection) -> None: ...

    with pytest.raises(InvalidValue, match="has an argument without a JSON form"):
        odd.enqueue(Connection())

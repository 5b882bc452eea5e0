"""Slips of the first hour: each is refused where it is written, and the refusal says what to write instead."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

import haulwright
from haulwright import Context, Haulwright, HaulwrightError, Retry, Source
from haulwright.client.arguments import Values
from haulwright.errors import InvalidPayload, NotFound, Refused, UnknownName


@pytest.fixture
def own():
    """An app that opens nothing."""
    return Haulwright("sqlite:///never-opened.db")


@pytest.fixture
def add(own):
    """A task without a context."""

    @own.task
    def add(a: int, b: int = 2) -> int:
        return a + b

    return add


def test_a_decorator_without_brackets_makes_a_task(own, add):
    assert own.tasks == {"add": add}
    assert (add(1, 2), add.options.queue) == (3, "default")


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        (lambda own: own.task(max_retries=3), "retry=Retry(attempts=4"),
        (lambda own: own.task(bind=True), "ctx: Context"),
        (lambda own: own.task(autoretry_for=(OSError,)), "Permanent"),
        (lambda own: own.task(time_limit=3), "timeout='2 min'"),
        (lambda own: own.task(rate_limit="10/m"), "app.source("),
        (lambda own: own.task(queu="fast"), "Did you mean queue=?"),
        (lambda own: own.task(colour="red"), "queue, retry, source, tags"),
        (lambda own: own.task("fast"), "@app.task(queue=...)"),
        (lambda own: Retry(max_attempts=5), "attempts="),  # noqa: ARG005
        (lambda own: Retry(max_retries=5), "count the first run too"),  # noqa: ARG005
        (lambda own: Retry(5, backoff="1 s"), "base="),  # noqa: ARG005
        (lambda own: own.find("add").using(countdown=5), "delay='10 s'"),
        (lambda own: own.find("add").using(eta=5), "run_at=datetime.now(UTC)"),
        (lambda own: own.find("add").using(expires=5), "deadline='1 h'"),
        (lambda own: own.find("add").using(dleay=5), "Did you mean delay=?"),
        (lambda own: own.find("add").delay(1), "Write: .enqueue(...)"),
        (lambda own: own.find("add").apply_async((1,)), "Write: .using(...)"),
        (lambda own: own.find("add").with_options(delay=5), "Write: .using(...)"),
        (lambda own: own.find("add").enqueue(1, delay=5), ".using(delay=...).enqueue(...)"),
        (lambda own: own.find("add").enque(1), "Did you mean .enqueue(...)?"),
        (lambda own: own.find("add").using(priority=1).send(1), "Write: .enqueue(...)"),
        (lambda own: own.run_worker(untill_empty=True), "Did you mean until_empty=?"),
        (lambda own: own.run_worker(burst=True), "until_empty="),
        (lambda own: own.send_task("add"), "Write: app.find('add').enqueue("),
        (lambda own: own.enqueue(own.find("add"), 1), "add.enqueue(1, 2)"),
        (lambda own: Haulwright(broker="redis://host"), "database_url="),  # noqa: ARG005
        (lambda own: Haulwright("tasks", backend="rpc://"), "database_url="),  # noqa: ARG005
        (lambda own: own.source("https://shop.example/a", rate="1/s"), "'shop.example'"),
        (lambda own: own.schedule("hourly", "0 * * * *", own.find("add"), args=(1,)), "args={'sku': 'A1'}"),
        (lambda own: own.source("shop.example", rate_limit="1/s"), "rate="),
        (lambda own: own.schedule("hourly", "0 * * * *", own.find("add"), timezone="UTC"), "tz="),
        (lambda own: own.schedule("hourly", "0 * * * *", print), "@app.task"),
        (lambda own: own.schedule("hourly", "0 * * * *", "add"), "@app.task"),
        (lambda own: Source("shop.example", rate="1/s"), "app.source("),  # noqa: ARG005
        (lambda own: Source(), "app.source("),  # noqa: ARG005
    ],
)
def test_a_word_that_does_not_exist_is_answered_with_the_one_that_was_meant(own, add, slip, meant):
    del add
    with pytest.raises(HaulwrightError) as refusal:
        slip(own)

    assert meant in refusal.value.hint
    assert isinstance(refusal.value, Refused)


def test_a_word_that_does_not_exist_is_also_pythons_own_error(add):
    with pytest.raises(TypeError):
        add.using(countdown=5)
    assert not hasattr(add, "delay")
    assert getattr(add, "__deepcopy__", None) is None


class Shop:
    """Functions that cannot be tasks as they stand."""

    def price(self, sku: str) -> str:
        return f"{self}{sku}"

    @staticmethod
    def static(sku: str) -> str:
        return sku

    @classmethod
    def of_class(cls, sku: str) -> str:
        return sku


def pages(sku: str):
    yield sku


async def apages(sku: str):
    yield sku


def untyped_context(ctx, sku: str) -> str:
    return f"{ctx}{sku}"


def context_last(sku: str, ctx: Context) -> str:
    return f"{ctx}{sku}"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda sku: sku, "has no name"),
        (partial(print, "a"), "has no name"),
        (pages, "is a generator"),
        (apages, "is a generator"),
        (Shop.price, "is a method"),
        (vars(Shop)["static"], "is a method"),
        (vars(Shop)["of_class"], "is a method"),
        (Shop, "is a class"),
        (7, "is no function"),
        (untyped_context, "does not say what ctx is"),
        (context_last, "not its first parameter"),
    ],
)
def test_what_cannot_run_is_refused_when_it_is_declared(own, function, why):
    with pytest.raises(Refused, match=why) as refusal:
        own.task()(function)

    assert refusal.value.hint
    assert own.tasks == {}


def test_the_method_of_an_object_and_a_lambda_with_a_name_are_tasks(own):
    own.task(Shop().price)
    own.task(name="twice")(lambda number: 2 * number)

    assert sorted(own.tasks) == ["price", "twice"]


def test_a_context_that_is_something_else_may_be_called_ctx(own):
    @own.task
    def draw(ctx: dict[str, int]) -> int:
        return len(ctx)

    assert draw({"a": 1}) == 1


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2), (None, 2)])
def test_a_direct_call_of_a_task_with_a_context_is_refused(own, arguments):
    @own.task
    def add(ctx: Context, a: int, b: int = 2) -> int:
        return a + b + ctx.job.attempts

    with pytest.raises(Refused, match="needs the context of a run") as refusal:
        add(*arguments)

    assert "add.enqueue(...)" in refusal.value.hint


def test_a_time_limit_that_nothing_could_keep_is_refused(own, add):
    def plain(sku: str) -> str:
        return sku

    async def on_the_loop(sku: str) -> str:
        return sku

    def with_context(ctx: Context, sku: str) -> str:
        return f"{ctx}{sku}"

    with pytest.raises(Refused, match="timeout cannot end a plain function") as refusal:
        own.task(timeout="2 s")(plain)
    with pytest.raises(Refused, match="timeout cannot end a plain function"):
        add.using(timeout="2 s")
    with pytest.raises(Refused, match="max_runtime cannot end a plain function"):
        own.schedule("hourly", "0 * * * *", add, args={"a": 1}, max_runtime="2 s")

    assert "isolation='process'" in refusal.value.hint
    own.task(timeout="2 s")(on_the_loop)
    own.task(timeout="2 s")(with_context)
    own.task(timeout="2 s", isolation="process", name="killed")(plain)


def test_a_job_is_found_by_its_id(bench):
    app = bench.use(Haulwright())

    @app.task
    def add(a: int) -> int:
        return a

    handle = add.enqueue(1)

    assert app.job(handle.id).id == asyncio.run(app.ajob(handle.id)).id == handle.id
    with pytest.raises(NotFound):
        app.job("no such job")


def test_on_the_loop_a_job_is_awaited(own):
    async def look():
        own.job("any")

    with pytest.raises(Refused, match="would block the event loop") as refusal:
        asyncio.run(look())

    assert "await app.ajob(" in refusal.value.hint


def test_a_repl_completes_the_menu():
    assert dir(haulwright) == haulwright.__all__


def test_an_unknown_name_is_one_error_for_options_and_methods():
    assert issubclass(UnknownName, Refused | TypeError)
    assert issubclass(UnknownName, AttributeError)


@pytest.mark.parametrize(
    ("annotation", "value", "kind", "words"),
    [
        (int, "hunter2", "str", "int"),
        (list[int], object(), "object", "list"),
        (Any, object(), "object", "any JSON value"),
    ],
)
def test_a_result_of_another_type_is_refused_in_a_whole_sentence(annotation, value, kind, words):
    with pytest.raises(InvalidPayload) as refusal:
        Values(annotation, "result").dump(value, 1000)

    expected = f"result: a value of type {kind} does not fit its annotation or has no JSON form."
    assert refusal.value.message == expected
    assert refusal.value.hint.startswith(f"It is annotated as {words}: ")
    assert "hunter2" not in str(refusal.value)

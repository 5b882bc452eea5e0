"""A handle tells how its job went: whether it is new, where it is, what it returned."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from haulwright import Haulwright, JobFailed, Permanent, Retry, Skip, State
from haulwright.engine.payload import RESULT_LIMIT_BYTES
from haulwright.errors import BlockingCall, ResultTimeout, UnknownTask

app = Haulwright()


@dataclass
class Price:
    sku: str
    amount: Decimal


class Report(BaseModel):
    prices: list[Price]
    raw: str


@app.task()
def price(sku: str) -> Price:
    return Price(sku, Decimal("9.90"))


@app.task()
async def report(sku: str) -> Report:
    return Report(prices=[Price(sku, Decimal(1))], raw="x")


@app.task()
def blob() -> bytes:
    return b"\x00\xff"


@app.task()
def anything(value: Any):
    return value


@app.task()
def wrong() -> int:
    return "seven"  # type: ignore[return-value] # what the test is about


@app.task()
def huge() -> str:
    return "x" * RESULT_LIMIT_BYTES


@app.task(retry=Retry(1))
def broken() -> None:
    raise ValueError("no luck")


@app.task()
def hopeless() -> None:
    raise Permanent("never")


@app.task()
def needless() -> Skip:
    return Skip("nothing new")


@pytest.fixture(autouse=True)
def on_the_bench(haulwright):
    haulwright.use(app)


@pytest.mark.proves("EF-06", "JOB-12")
def test_a_result_comes_back_as_its_annotation_says(haulwright):
    handles = [price.enqueue("A1"), report.enqueue("B2"), blob.enqueue(), anything.enqueue([1, None])]
    haulwright.drain()

    assert [handle.result(0) for handle in handles] == [
        Price("A1", Decimal("9.90")),
        Report(prices=[Price("B2", Decimal(1))], raw="x"),
        b"\x00\xff",
        [1, None],
    ]


@pytest.mark.parametrize("task", [wrong, huge])
def test_a_result_that_cannot_be_stored_ends_the_job_and_says_so(haulwright, task):
    handle = task.enqueue()
    haulwright.drain()

    with pytest.raises(JobFailed) as failure:
        handle.result(0)
    assert (failure.value.state, failure.value.reason) == (State.DEAD, "unstorable")


@pytest.mark.proves("ENQ-01", "ENQ-02", "ENQ-08", "JOB-01", "JOB-02")
def test_an_enqueue_writes_a_queued_job_and_runs_nothing(haulwright):
    handle = broken.enqueue()

    assert handle.created
    assert handle.state() == State.QUEUED
    assert [job.id for job in haulwright.all_enqueued()] == [handle.id]


def test_a_job_that_did_not_succeed_has_no_result_but_a_reason(haulwright):
    tried, given_up, skipped = broken.enqueue(), hopeless.enqueue(), needless.enqueue()
    haulwright.drain()

    with pytest.raises(JobFailed, match=r"is dead: no luck\. See it with: haulwright job show") as failure:
        tried.result()
    assert failure.value.reason == "attempts_exhausted"
    assert failure.value.error == {"class": "ValueError", "code": "value_error", "message": "no luck"}
    with pytest.raises(JobFailed, match="is dead: never"):
        given_up.result()
    with pytest.raises(JobFailed, match="is skipped: nothing new"):
        skipped.result()


def test_waiting_for_a_result_ends_at_its_time_limit():
    handle = price.enqueue("A1")

    with pytest.raises(ResultTimeout, match=r"is still queued after 0\.02 s.*haulwright job why"):
        handle.result(0.02)


def test_a_result_is_seen_when_somebody_else_makes_it(haulwright):
    handle = price.enqueue("A1")
    somebody = threading.Thread(target=haulwright.drain)
    somebody.start()

    assert handle.result(90).sku == "A1"
    somebody.join()


def test_the_doors_for_the_event_loop_do_the_same(haulwright):
    async def story() -> tuple[str, str, Price, str]:
        handle = await price.aenqueue("A1")
        queued = await handle.astate()
        await haulwright.adrain()
        return handle.id, queued, await handle.aresult(0), (await handle.ajob()).state

    job_id, queued, result, after = asyncio.run(story())

    assert (queued, result.sku, after) == ("queued", "A1", "succeeded")
    assert haulwright.all_enqueued()[0].id == job_id


def test_waiting_on_the_event_loop_ends_at_its_time_limit_too():
    async def story() -> None:
        handle = await price.aenqueue("A1")
        await handle.aresult(0.02)

    with pytest.raises(ResultTimeout):
        asyncio.run(story())


@pytest.mark.parametrize(
    ("door", "instead"),
    [
        (lambda _: price.enqueue("A1"), "Write: await price.aenqueue(...)"),
        (lambda _: app.enqueue_many([price.call("A1")]), "Write: await app.aenqueue_many(...)"),
        (lambda handle: handle.result(0), "Write: await handle.aresult(...)"),
        (lambda handle: handle.state(), "Write: await handle.astate()"),
        (lambda handle: handle.job(), "Write: await handle.ajob()"),
    ],
)
def test_a_plain_name_on_the_event_loop_is_refused_with_the_right_one(door, instead):
    handle = price.enqueue("A1")

    async def story() -> None:
        door(handle)

    with pytest.raises(BlockingCall) as refusal:
        asyncio.run(story())
    assert refusal.value.hint == instead


def test_a_task_can_still_be_called_as_the_function_it_is():
    assert price("A1") == Price("A1", Decimal("9.90"))
    assert asyncio.run(report("B2")).raw == "x"
    assert price.__name__ == "price"


@pytest.mark.proves("JOB-04")
def test_an_unknown_task_is_refused_with_the_nearest_name():
    assert app.find("price") is price
    with pytest.raises(UnknownTask, match="Did you mean 'report'"):
        app.find("raport")
    with pytest.raises(UnknownTask, match="Known are: none"):
        Haulwright().find("price")

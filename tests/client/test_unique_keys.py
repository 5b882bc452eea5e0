"""Unique keys in their three scopes, as a task declares them."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, UniqueBy
from haulwright.errors import DuplicateMismatch

app = Haulwright()


@app.task(unique="sku")
def while_active(sku: str, count: int = 1) -> None: ...


@app.task(unique=UniqueBy("sku", "forever"))
def forever(sku: str) -> None: ...


@app.task(unique=UniqueBy("sku", "1 h"))
def hourly(sku: str) -> None: ...


@app.task(unique=True)
def by_everything(sku: str, count: int = 1) -> None: ...


@app.task(unique=["sku", "count"])
def by_two(sku: str, count: int, note: str = "") -> None: ...


@app.task(unique=lambda args: args["sku"].lower())
def by_function(sku: str) -> None: ...


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.mark.proves("ENQ-05", "ENQ-06")
def test_while_a_job_is_active_a_second_one_is_answered_with_it(bench):
    first, second = while_active.enqueue("A1"), while_active.enqueue("A1")
    bench.drain()
    third = while_active.enqueue("A1")

    assert (first.created, second.created, third.created) == (True, False, True)
    assert second.id == first.id != third.id


@pytest.mark.proves("ENQ-06")
def test_a_duplicate_with_other_arguments_is_refused_and_names_the_job():
    first = while_active.enqueue("A1")

    with pytest.raises(DuplicateMismatch) as refusal:
        while_active.enqueue("A1", count=2)
    assert (refusal.value.job_id, refusal.value.key) == (first.id, "A1")


def test_a_key_for_ever_outlives_its_job(bench):
    first = forever.enqueue("A1")
    bench.drain()
    bench.advance("365 days")

    again = forever.enqueue("A1")
    assert (again.created, again.id) == (False, first.id)
    assert forever.enqueue("B2").created


def test_a_key_for_a_time_is_free_after_it(bench):
    first = hourly.enqueue("A1")
    bench.drain()
    bench.advance("59 min")
    early = hourly.enqueue("A1")
    bench.advance("1 min")
    late = hourly.enqueue("A1")

    assert (early.created, early.id, late.created) == (False, first.id, True)


@pytest.mark.proves("TN-04")
def test_tenants_and_tasks_do_not_share_keys():
    assert while_active.enqueue("A1").created
    assert while_active.using(tenant="acme").enqueue("A1").created
    assert forever.enqueue("A1").created


def test_a_key_may_be_made_of_all_arguments_of_some_or_by_a_function():
    assert by_everything.enqueue("A1").created
    assert not by_everything.enqueue("A1", 1).created
    assert by_everything.enqueue("A1", 2).created
    assert by_two.enqueue("A1", 1).created
    assert by_two.enqueue("A1", 2).created
    assert not by_two.enqueue("A1", 2).created
    assert by_function.enqueue("ABC").created
    with pytest.raises(DuplicateMismatch):
        by_function.enqueue("abc")


def test_a_call_may_bring_its_own_key():
    first = while_active.using(unique="mine").enqueue("A1")

    assert while_active.enqueue("A1").created
    assert while_active.using(unique="mine").enqueue("A1").id == first.id


def test_a_long_key_is_kept_as_its_digest():
    job = by_everything.enqueue("x" * 1000).job()

    assert job.unique_key.startswith("sha256:")
    assert not by_everything.enqueue("x" * 1000).created

"""A commit writes the user's rows, its record and, if asked, the end of the job in one transaction, exactly once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pytest

from haulwright import Context, Haulwright, Principal, Retry, Tx
from haulwright.engine.payload import RESULT_LIMIT_BYTES
from haulwright.errors import BlockingCall, InvalidPayload, InvalidValue

app = Haulwright()
ADMIN = Principal.admin("root")
RETRY = Retry(4, base="1 min", jitter=0)
calls: list[str] = []


def save(tx: Tx, sku: str) -> str:
    calls.append(sku)
    mark = {"sqlite": "?", "postgres": "%s"}[tx.dialect]
    tx.execute(f"insert into prices values ({mark})", (sku,))  # noqa: S608 - one of two marks
    tx.enqueue(alert, sku)
    return sku.lower()


@app.task(retry=RETRY)
def alert(sku: str) -> None: ...


@app.task(retry=RETRY)
def scrape(ctx: Context, sku: str) -> str:
    saved = ctx.commit("save", save, sku)
    if ctx.job.attempts == 1:
        raise ValueError("later")
    return saved


@app.task(retry=RETRY)
def scrape_and_settle(ctx: Context, sku: str) -> str:
    saved = ctx.commit("save", save, sku, settle=True)
    calls.append("after")
    raise ValueError(saved)


@app.task(retry=RETRY)
async def ascrape_and_settle(ctx: Context, sku: str) -> str:
    return await ctx.acommit("save", save, sku, settle=True)


@app.task(retry=RETRY)
def refused(ctx: Context, sku: str) -> str:
    def save_then_fail(tx: Tx, sku: str) -> None:
        save(tx, sku)
        raise ValueError("no")

    ctx.commit("save", save_then_fail, sku)
    return "unreachable"


@app.task(retry=RETRY)
def too_much(ctx: Context) -> str:
    return ctx.commit("save", lambda _: "x" * RESULT_LIMIT_BYTES, settle=True)


@app.task(retry=RETRY)
async def awaits(ctx: Context) -> None:
    async def save_later(tx: Tx) -> None: ...

    await ctx.acommit("save", save_later)


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    calls.clear()
    bench.use(app)
    bench.store.database.transact(lambda connection: connection.execute("create table prices (sku text)"))


def prices(bench):
    return [sku for (sku,) in bench.store.database.read(lambda connection: connection.execute("select * from prices"))]


@pytest.mark.proves("GU-02", "EF-02")
def test_the_rows_are_there_once_however_often_the_job_runs(bench):
    handle = scrape.enqueue("A1")
    bench.drain()
    bench.advance("1 min")
    bench.drain()

    assert (handle.result(0), calls, prices(bench)) == ("a1", ["A1"], ["A1"])
    assert len(bench.all_enqueued(alert)) == 1
    assert [(e.name, e.kind, e.state) for e in app.operations(ADMIN).effects.of_job(handle.id).rows] == [
        ("commit:save", "commit", "done")
    ]


@pytest.mark.proves("GU-02")
@pytest.mark.parametrize("moment", [{"after": "save"}, {"before": "save"}, {"before": "settle"}, {"after": "claim"}])
def test_a_crash_at_any_moment_leaves_the_rows_once(bench, moment):
    handle = ascrape_and_settle.enqueue("A1")
    with bench.crash(ascrape_and_settle, **moment):
        bench.drain()
    bench.advance("3 min")
    bench.drain()

    assert (handle.result(0), prices(bench)) == ("a1", ["A1"])
    assert len(bench.all_enqueued(alert)) == 1


def test_a_job_settled_by_its_commit_is_done_whatever_its_code_does_after(bench):
    handle = scrape_and_settle.enqueue("A1")
    bench.drain()

    assert (handle.result(0), calls, handle.job().attempts) == ("a1", ["A1", "after"], 1)
    assert handle.job().error_message is None


@pytest.mark.proves("TN-02", "LG-05")
def test_a_job_enqueued_in_a_commit_belongs_to_the_tenant_and_story_of_its_parent(bench):
    scrape.using(tenant="acme", correlation_id="req-1").enqueue("A1")
    bench.drain()

    (child,) = bench.all_enqueued(alert)
    assert (child.tenant, child.correlation_id) == ("acme", "req-1")


def test_a_function_that_raises_leaves_nothing_behind(bench):
    handle = refused.enqueue("A1")
    bench.drain()

    assert (prices(bench), bench.all_enqueued(alert), app.operations(ADMIN).effects.of_job(handle.id).rows) == (
        [],
        [],
        [],
    )
    assert handle.job().error_message == "no"


def test_a_result_that_is_too_large_for_a_job_does_not_settle_it(bench):
    handle = too_much.enqueue()
    bench.drain()

    assert (handle.state(), handle.job().error_code) == ("queued", "invalid_payload")


def test_a_commit_takes_a_plain_function(bench):
    with pytest.raises(BlockingCall, match="Make it a plain def"):
        bench.run_inline(awaits)


@dataclass
class Offer:
    sku: str
    price: Decimal
    seen_on: date


def save_offer(tx: Tx, offer: Offer) -> str:
    return save(tx, offer.sku)


@app.task(retry=RETRY)
def save_each(ctx: Context, skus: list[str]) -> list[str]:
    saved = [ctx.commit("save", save, sku) for sku in skus]
    if ctx.job.attempts == 1:
        raise ValueError("later")
    return saved


@app.task(retry=RETRY)
async def asave_each(ctx: Context, skus: list[str]) -> list[str]:
    saved = [await ctx.acommit("save", save, sku) for sku in skus]
    if ctx.job.attempts == 1:
        raise ValueError("later")
    return saved


@app.task()
def save_offers(ctx: Context) -> list[str]:
    offers = [Offer("A1", Decimal("1.50"), date(2024, 1, 1)), Offer("A1", Decimal("1.60"), date(2024, 1, 1))]
    return [ctx.commit("save", save_offer, offer) for offer in [*offers, offers[0]]]


@app.task()
def save_by_key(ctx: Context) -> list[str]:
    def write(tx: Tx, _: object, sku: str) -> str:
        return save(tx, sku)

    return [ctx.commit("save", write, object(), sku, key=sku[0]) for sku in ["A1", "A2", "B1"]]


@app.task()
def save_opaque(ctx: Context) -> None:
    ctx.commit("save", save, object())


@app.task()
def save_closures(ctx: Context) -> list[str]:
    return [ctx.commit("save", lambda tx: save(tx, sku)) for sku in ["A1", "B1"]]  # noqa: B023 - the trap itself


@pytest.mark.parametrize("task", [save_each, asave_each])
def test_a_commit_in_a_loop_writes_each_of_its_rows_once(bench, task):
    handle = task.enqueue(["a", "b", "c", "a"])
    bench.drain()
    bench.advance("1 min")
    bench.drain()

    assert handle.result(0) == ["a", "b", "c", "a"], "the same arguments again are the same commit"
    assert prices(bench) == ["a", "b", "c"]


def test_dataclasses_with_other_values_are_other_commits(bench):
    handle = save_offers.enqueue()
    bench.drain()

    assert (handle.result(0), prices(bench)) == (["a1", "a1", "a1"], ["A1", "A1"])


def test_a_commit_may_be_told_from_others_by_a_key_of_its_own(bench):
    handle = save_by_key.enqueue()
    bench.drain()

    assert (handle.result(0), prices(bench)) == (["a1", "a1", "b1"], ["A1", "B1"])


def test_a_commit_whose_arguments_have_no_json_asks_for_a_key(bench):
    with pytest.raises(InvalidPayload, match="commit 'save': its arguments have no canonical JSON") as refused:
        bench.run_inline(save_opaque)

    assert "key=" in refused.value.hint
    assert prices(bench) == []


def test_a_closure_that_captured_another_value_is_not_answered_with_the_first_ones_result(bench):
    with pytest.raises(InvalidValue, match="commit: 'save' was called before in this run") as refused:
        bench.run_inline(save_closures)

    assert "Pass what differs as an argument" in refused.value.hint


MARKS = {"sqlite": "%s", "postgres": "?"}


def save_as_on_the_other(tx: Tx, sku: str) -> None:
    tx.execute(f"insert into prices values ({MARKS[tx.dialect]})", (sku,))  # noqa: S608 - one of two marks


@app.task(retry=RETRY)
def moved(ctx: Context) -> None:
    ctx.commit("save", save_as_on_the_other, "A1", settle=True)


def test_a_statement_written_for_the_other_database_is_answered_with_how_parameters_are_written(bench):
    """An app moves to PostgreSQL by its address alone, but for the marks of its own statements."""
    handle = moved.enqueue()
    bench.drain()

    message = app.operations(ADMIN).jobs.get(handle.id).error_message

    assert f"no place for its parameters as {bench.store.database.dialect} writes them" in message
    assert "Write %s for each on PostgreSQL and ? on SQLite" in message

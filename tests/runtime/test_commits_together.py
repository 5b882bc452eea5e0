"""Runs of a worker that commit at the same moment share a transaction, and none of them knows of the others."""

from __future__ import annotations

import pytest

from haulwright import Context, Retry, Tx
from tests.runtime.waiting import eventually

COUNT = 8
BAD = 3


@pytest.fixture
def together(app, monkeypatch):
    """The sizes of the groups that were tried; the first one waits until all others wait behind it."""
    groups = []
    store, commit_together = app.store, app.store.commits.commit_together
    store.database.transact(lambda connection: connection.execute("create table pages (number integer)"))

    def wait_for_company(requests):
        groups.append(len(requests))
        if len(groups) == 1:
            eventually(lambda: waiting() == COUNT - len(requests))
        return commit_together(requests)

    queues = []

    def waiting():
        return sum(len(queue._waiting) for queue in queues)

    monkeypatch.setattr(store.commits, "commit_together", wait_for_company)
    monkeypatch.setattr(store.commits, "may_join", lambda _request: True)
    return groups, queues


def insert(tx: Tx, number: int) -> int:
    mark = {"sqlite": "?", "postgres": "%s"}[tx.dialect]
    tx.execute(f"insert into pages values ({mark})", (number,))  # noqa: S608 - one of two marks
    return number


def insert_or_fail(tx: Tx, number: int) -> int:
    insert(tx, number)
    if number == BAD:
        raise ValueError("no such page")
    return number


def pages(app):
    found = app.store.database.read(lambda connection: connection.execute("select number from pages order by number"))
    return [number for (number,) in found]


@pytest.mark.proves("GU-02")
@pytest.mark.parametrize("settle", [False, True], ids=["result only", "with the end of the job"])
@pytest.mark.parametrize("kind", ["async def", "def"])
def test_runs_that_commit_at_once_share_a_transaction(app, start_worker, together, kind, settle):
    groups, queues = together

    @app.task()
    async def on_the_loop(ctx: Context, number: int) -> int:
        queues[:] = [ctx.commit_queue]
        return await ctx.acommit("page", insert, number, settle=settle)

    @app.task()
    def on_a_thread(ctx: Context, number: int) -> int:
        queues[:] = [ctx.commit_queue]
        return ctx.commit("page", insert, number, settle=settle)

    task = on_the_loop if kind == "async def" else on_a_thread
    handles = app.enqueue_many(task.call(number) for number in range(COUNT))
    start_worker(concurrency=COUNT)

    assert [handle.result(60) for handle in handles] == list(range(COUNT))
    assert pages(app) == list(range(COUNT))
    assert (sum(groups), len(groups) <= 2) == (COUNT, True)


@pytest.mark.proves("GU-02")
def test_a_run_whose_function_fails_takes_no_neighbour_along(app, start_worker, together):
    groups, queues = together

    @app.task(retry=Retry(1))
    async def page(ctx: Context, number: int) -> int:
        queues[:] = [ctx.commit_queue]
        return await ctx.acommit("page", insert_or_fail, number, settle=True)

    handles = app.enqueue_many(page.call(number) for number in range(COUNT))
    start_worker(concurrency=COUNT)
    eventually(lambda: all(handle.state() in {"succeeded", "dead"} for handle in handles))

    good = [number for number in range(COUNT) if number != BAD]
    assert [handle.state() for handle in handles] == [
        "dead" if number == BAD else "succeeded" for number in range(COUNT)
    ]
    assert handles[BAD].job().error_message == "no such page"
    assert pages(app) == good
    assert max(groups) > 1

"""Headers travel with a job and with the jobs that it enqueues: a place for a trace context or a request id."""

from __future__ import annotations

import json
import logging

import pytest

from haulwright import Context, Haulwright, Permanent, Tx
from haulwright.engine.payload import HEADERS_LIMIT, HEADERS_LIMIT_BYTES
from haulwright.errors import InvalidPayload
from haulwright.stores.job_rows import Requeue

app = Haulwright()
TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "request": "été"}


@app.task()
def child(ctx: Context) -> dict[str, str]:
    return ctx.headers


@app.task()
def parent(ctx: Context) -> dict[str, str]:
    child.enqueue()
    app.enqueue_many([child.using(headers={"request": "another", "more": "1"}).call() for _ in range(2)])
    ctx.commit("child", lambda tx: tx.enqueue(child))
    return ctx.headers


@app.task()
async def asynchronous_parent(ctx: Context) -> None:
    await child.aenqueue()
    await ctx.acommit("child", _enqueue_child)


def _enqueue_child(tx: Tx) -> str:
    return tx.enqueue(child)


@app.task()
def stranger() -> None:
    child.using(tenant="globex").enqueue()


@app.task()
def fails() -> None:
    message = "no"
    raise Permanent(message)


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


def headers_of(job):
    return None if job.headers is None else json.loads(job.headers)


def test_a_run_reads_the_headers_of_its_job(bench):
    handles = [child.using(headers=headers).enqueue() for headers in (TRACE, {}, None)]
    bench.drain()

    assert [handle.result(0) for handle in handles] == [TRACE, {}, {}]
    assert [headers_of(handle.job()) for handle in handles] == [TRACE, None, None]


def test_jobs_that_a_run_enqueues_inherit_its_headers_under_their_own(bench):
    parent.using(headers=TRACE).enqueue()
    bench.drain()

    own = {**TRACE, "request": "another", "more": "1"}
    assert sorted(map(headers_of, bench.all_enqueued(child)), key=len) == [TRACE, TRACE, own, own]


def test_an_asynchronous_run_hands_its_headers_on_too(bench):
    asynchronous_parent.using(headers=TRACE).enqueue()
    bench.drain()

    assert list(map(headers_of, bench.all_enqueued(child))) == [TRACE, TRACE]


def test_headers_do_not_travel_to_another_tenant(bench):
    stranger.using(tenant="acme", headers=TRACE).enqueue()
    bench.drain()

    (job,) = bench.all_enqueued(child)
    assert (job.tenant, job.headers) == ("globex", None)


@pytest.mark.parametrize("key", [{}, {"job_key": "k"}, {"unique": "u"}, {"job_key": "k", "unique": "u"}])
def test_every_way_to_write_a_job_keeps_its_headers(bench, key):
    alone = child.using(headers=TRACE, **key).enqueue()
    others = {name: f"{value}-2" for name, value in key.items()}
    many = app.enqueue_many([child.using(headers=TRACE, **others).call(), child.using(headers=TRACE).call()])

    assert [headers_of(handle.job()) for handle in (alone, *many)] == [TRACE] * 3
    bench.drain()
    assert [handle.result(0) for handle in (alone, *many)] == [TRACE] * 3


def test_a_requeue_keeps_the_headers(bench):
    dead = fails.using(headers=TRACE).enqueue()
    bench.drain()

    successor = bench.store.jobs.requeue(dead.id, Requeue("alice"), tenant=None)

    assert headers_of(dead.job()) == headers_of(bench.store.listing.get(successor.id)) == TRACE


def test_a_schedule_that_is_declared_in_a_run_has_no_headers(bench):
    other = Haulwright()

    @other.task(name="tick")
    def tick() -> None: ...

    @other.task(name="declare")
    def declare() -> None:
        other.schedule("ticks", "0 * * * *", tick)

    bench.use(other)
    declare.using(headers=TRACE).enqueue()
    bench.drain()
    bench.drain()  # it is declared now
    bench.advance("1 h")
    bench.drain()

    assert [job.headers for job in bench.all_enqueued(tick)] == [None]


@pytest.mark.parametrize(
    ("headers", "path", "why"),
    [
        ({"a": 1}, "headers['a']", "is of type int, and not text"),
        ({"secret": b"x"}, "headers['secret']", "is of type bytes, and not text"),
        ({1: "a"}, "headers", "has a name that is not printable text"),
        ({"": "a"}, "headers", "has a name that is not printable text"),
        ({"a\nb": "a"}, "headers", "has a name that is not printable text"),
        ("a=b", "headers", "is a str, and not text by name"),
        ({str(n): "" for n in range(HEADERS_LIMIT + 1)}, "headers", f"has more than {HEADERS_LIMIT} names"),
        ({"a": "x" * HEADERS_LIMIT_BYTES}, "headers", f"is larger than {HEADERS_LIMIT_BYTES} bytes"),
        ({"a": "x\0"}, "headers.a", "contains a NUL character"),
    ],
)
def test_headers_that_make_no_sense_are_refused_before_anything_is_written(bench, headers, path, why):
    with pytest.raises(InvalidPayload) as refusal:
        child.using(headers=headers).enqueue()

    assert (refusal.value.path, refusal.value.why) == (path, why)
    assert bench.all_enqueued() == []


def test_headers_that_are_too_many_with_the_inherited_ones_are_refused(bench):
    many = Haulwright()

    @many.task(name="crowd")
    def crowd() -> None:
        with pytest.raises(InvalidPayload, match=f"more than {HEADERS_LIMIT}"):
            child.using(headers={f"mine-{n}": "" for n in range(HEADERS_LIMIT)}).enqueue()

    bench.use(many)
    handle = crowd.using(headers=TRACE).enqueue()
    bench.drain()

    assert handle.state() == "succeeded"


def test_headers_are_never_in_a_log_line(bench, caplog):
    with caplog.at_level(logging.DEBUG, logger="haulwright"):
        parent.using(headers=TRACE).enqueue()
        bench.drain()

    assert caplog.records
    assert not [record for record in caplog.records if TRACE["traceparent"] in f"{record.getMessage()} {vars(record)}"]

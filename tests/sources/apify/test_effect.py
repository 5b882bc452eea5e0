"""With the ledger of a job, a crash at any point of a start leaves exactly one paid run."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import pytest

from haulwright import Context, Haulwright, Retry
from haulwright.errors import Throttled
from haulwright.sources.apify import Apify, Order
from haulwright.sources.http import Http
from haulwright.testing.harness import Harness

ACTOR = "apify~instagram-post-scraper"
app = Haulwright()
accounts: list[tuple[Http, Apify]] = []
STARTS = "/apify/v2/actors/*/runs"


@app.task(retry=Retry(5, base="1 min", jitter=0), lease="1 min")
async def scrape(ctx: Context, actor: str, since: float) -> str:
    http, apify = accounts[-1]
    order = Order(apify, actor, {"username": ["acme"]}, since=datetime.fromtimestamp(since, UTC), patience_seconds=0)
    marker = ctx.key_for("start", key="start")
    async with http:  # on the bench each run has an event loop of its own
        run = await ctx.aeffect("start", order.astart, marker, key="start", recover=order.arecover)
        seen = await apify.await_step(run.id, 0)
    if not seen.is_terminal:
        raise Throttled(after=30)
    return f"{run.id} {seen.status}"


@pytest.fixture
def bench(http, apify, database_url, tmp_path):
    accounts.append((http, apify))
    with closing(Harness(database_url, tmp_path)) as bench:
        bench.use(app)
        yield bench


def run_to_the_end(bench, sandbox, handle):
    for _ in range(5):
        bench.drain()
        bench.advance("5 min")
        sandbox.clock.advance(60)
    return handle.job()


FAULTS = [
    pytest.param({"kind": "lost_reply"}, id="lost reply"),
    pytest.param({"kind": "status", "code": 500, "carried_out": True}, id="500 after it began"),
    pytest.param({"kind": "status", "code": 500}, id="500 before it began"),
    pytest.param({"kind": "refuse"}, id="dropped before it began"),
    pytest.param({"kind": "rate_limit", "retry_after": 5}, id="429"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_becomes_of_the_request_one_run_is_paid_for(bench, sandbox, fault):
    sandbox.faults.add(path=STARTS, method="POST", **fault)

    job = run_to_the_end(bench, sandbox, handle := scrape.enqueue(ACTOR, sandbox.clock.now()))

    (paid,) = sandbox.books.paid_runs(ACTOR)
    assert (job.state, handle.result(0)) == ("succeeded", f"{paid.run} SUCCEEDED")


@pytest.mark.parametrize("when", ["before", "after"])
def test_wherever_the_process_dies_one_run_is_paid_for(bench, sandbox, when):
    handle = scrape.enqueue(ACTOR, sandbox.clock.now())
    with bench.crash(scrape, **{when: "start"}):
        bench.drain()

    job = run_to_the_end(bench, sandbox, handle)

    assert job.state == "succeeded"
    assert len(sandbox.books.paid_runs(ACTOR)) == 1


def test_two_jobs_with_the_same_input_have_a_run_each(bench, sandbox):
    sandbox.faults.add("lost_reply", path=STARTS, method="POST", times=2)
    handles = [scrape.enqueue(ACTOR, sandbox.clock.now()) for _ in range(2)]

    jobs = [run_to_the_end(bench, sandbox, handle) for handle in handles]

    assert [job.state for job in jobs] == ["succeeded", "succeeded"]
    assert len({handle.result(0) for handle in handles}) == 2
    assert len(sandbox.books.paid_runs(ACTOR)) == 2

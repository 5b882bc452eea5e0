"""Stages only move forward, survive a crash, and can be read; progress says how far a run has come."""

from __future__ import annotations

import json
import math

import pytest

from haulwright import Context, Haulwright, Permanent, Principal, Retry, Tx
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.errors import IllegalStage, InvalidPayload

app = Haulwright()
ADMIN = Principal.admin("root")
reached: list[str] = []


@app.task(retry=Retry(4, base="1 min", jitter=0))
def fetch(ctx: Context, stages: list[str], *, give_up: bool = False) -> None:
    reached.extend(ctx.stage(stage, DOCUMENT_STAGES) for stage in stages)
    if give_up and ctx.job.requeued_from is None:
        raise Permanent("enough")


@app.task(retry=Retry(4, base="1 min", jitter=0))
async def afetch(ctx: Context) -> str:
    await ctx.astage("HEAD_DONE", DOCUMENT_STAGES)
    await ctx.aprogress(1, 3, "head")
    await ctx.acommit("stream", stream)
    return await ctx.astage("FINALIZED", DOCUMENT_STAGES)


def stream(tx: Tx) -> str:
    return tx.stage("STREAMING", DOCUMENT_STAGES)


@app.task(retry=Retry(1))
def reporting(ctx: Context, done: float) -> None:
    ctx.progress(done, 10, "files")


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    reached.clear()
    bench.use(app)


@pytest.mark.proves("SM-01", "SM-02", "SM-04", "SM-05", "SM-06")
def test_a_document_goes_through_its_stages(bench):
    handle = fetch.enqueue(["HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED", "INDEXED"])
    bench.drain()

    assert reached == ["HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED", "INDEXED"]
    assert (handle.state(), handle.job().stage) == ("succeeded", "INDEXED")
    assert bench.store.effects.stage("default", handle.job().job_key) == "INDEXED"


@pytest.mark.proves("SM-03")
def test_a_move_that_the_machine_does_not_list_raises_and_changes_nothing(bench):
    handle = fetch.enqueue(["HEAD_DONE", "FINALIZED"])
    bench.drain()

    assert (handle.job().stage, handle.job().error_class) == ("HEAD_DONE", "IllegalStage")
    with pytest.raises(IllegalStage, match="has no move from HEAD_DONE to FINALIZED"):
        bench.run_inline(fetch, ["HEAD_DONE", "FINALIZED"])


@pytest.mark.proves("SM-02")
def test_a_resumed_job_goes_on_from_its_stage(bench):
    handle = fetch.enqueue(["HEAD_DONE", "STREAMING"])
    with bench.crash(fetch, before="settle"):
        bench.drain()
    assert handle.job().stage == "STREAMING"
    bench.advance("3 min")
    bench.drain()

    assert reached == ["HEAD_DONE", "STREAMING", "STREAMING", "STREAMING"]
    assert handle.state() == "succeeded"


@pytest.mark.proves("SM-02", "SM-07", "SM-08")
def test_a_requeued_job_starts_a_generation_where_the_first_one_died_or_anew_after_its_end(bench):
    halfway = fetch.enqueue(["HEAD_DONE"], give_up=True)
    over = fetch.enqueue(["SKIPPED_DUPLICATE"], give_up=True)
    bench.drain()
    reached.clear()
    for handle in (halfway, over):
        app.operations(ADMIN).dead_letters.requeue(handle.id)
    bench.drain()

    assert reached == ["HEAD_DONE", "SKIPPED_DUPLICATE"]
    assert [job.state for job in bench.all_enqueued()] == ["dead", "dead", "succeeded", "succeeded"]


def test_the_doors_for_the_event_loop_and_the_commit_move_the_same_stage(bench):
    handle = afetch.enqueue()
    bench.drain()

    assert (handle.result(0), handle.job().stage) == ("FINALIZED", "FINALIZED")
    assert json.loads(handle.job().progress) == {"done": 1, "of": 3, "note": "head"}


def test_progress_is_there_while_the_job_runs_and_after(bench):
    handle = reporting.enqueue(4.0)
    with bench.crash(reporting, before="settle"):
        bench.drain()

    assert handle.state() == "running"
    assert json.loads(handle.job().progress) == {"done": 4.0, "of": 10, "note": "files"}


def test_progress_that_is_no_number_is_refused(bench):
    @app.task(name="nan")
    def nan(ctx: Context) -> None:
        ctx.progress(math.nan)

    with pytest.raises(InvalidPayload, match=r"progress\.done"):
        bench.run_inline(nan)

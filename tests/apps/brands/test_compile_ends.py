"""However the job of a compile ends, the compile ends with it: evidence, error, end and one event."""

from __future__ import annotations

import json

import pytest

from haulwright.apps.brands.evidence.status import STATUS_SCHEMA, evidence_status
from haulwright.apps.brands.json_schema import check
from haulwright.errors import Permanent
from tests.apps.brands.scenes import ACME, SIX, connect, rows, runs_of

FAILED = "brand.compile_failed"


def failures(brands):
    """What was told of the end of a compile."""
    told = rows(brands, f"select name, data from haulwright_events where name = '{FAILED}'")  # noqa: S608 - as written
    return [json.loads(data) for _, data in told]


def end_by(how, brands, compiled, bench, settle):
    """Let the job of a compile end in some way after its sources are known, or before."""
    match how:
        case "model":
            bench.fail_effect("draft", Permanent("The model refused to answer."))
        case "bug":
            bench.fail_effect("draft", RuntimeError("list index out of range"), times=3)
        case "cancel":
            bench.drain()
            brands.app.operations().jobs.cancel(compiled.job_id, "enough")
        case "deadline":
            bench.drain()
            bench.advance("25 h")
    settle()


@pytest.mark.parametrize(
    "death",
    [
        ("model", "Permanent", "The model refused"),
        ("bug", "RuntimeError", "list index out of range"),
        ("cancel", "Cancelled", "Its job is cancelled: enough"),
        ("deadline", "Deadline", "Its job is dead: deadline"),
    ],
    ids=lambda death: death[0],
)
def test_a_compile_that_dies_leaves_its_evidence_its_error_and_its_end(brands, brand, bench, settle, death):
    how, error_class, words = death
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)

    end_by(how, brands, compiled, bench, settle)

    run = brands.compile_run(ACME, compiled.id)
    assert (run.status, run.error_class, run.finished_at is None) == ("failed", error_class, False)
    assert run.error.startswith(words)
    check(run.evidence_status, STATUS_SCHEMA, root="status")
    assert sum(map(len, run.evidence_status.values())) == 2
    (told,) = failures(brands)
    known = {"compile_run_id": run.id, "brand_id": brand.id, "error": run.error, "error_class": error_class}
    assert told == known


def test_a_compile_whose_workers_die_under_it_ends_with_its_last_lease(brands, brand, bench, settle):
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    bench.advance("30 s")
    for _ in range(3):
        with bench.crash(brands.compile_task, before="draft"):
            for _ in range(20):
                bench.drain()
                bench.advance("30 s")
        assert brands.compile_run(ACME, compiled.id).finished_at is None
        bench.advance("11 min")
    settle()

    run = brands.compile_run(ACME, compiled.id)
    assert (run.status, len(run.evidence_status["refreshed"]), len(failures(brands))) == ("failed", 1, 1)
    assert run.error


def test_a_compile_that_is_cancelled_names_the_runs_that_are_under_way(brands, brand, sandbox, bench):
    sandbox.apify.script(ending="NEVER")
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    brands.app.operations().jobs.cancel(compiled.job_id, "enough")

    (run,) = runs_of(brands, connection)
    (entry,) = brands.compile_run(ACME, compiled.id).evidence_status["failed"]
    assert (entry["apify_run_id"], entry["actor_run_id"]) == (run.id, run.actor_run_id)
    assert (entry["apify_run_status"], entry["dataset_id"]) == (run.status, run.dataset_id)


def test_the_tables_and_the_code_say_the_same_evidence_status(install, sandbox, settle, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_BRANDS_DISABLED", "linkedin.company_posts")
    brands = install()
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0])
    brands.compile(ACME, brand.id)
    settle()
    connect(brands, brand, *SIX)
    sandbox.apify.script(actor="clockworks~tiktok-scraper", ending="FAILED")
    compiled = brands.compile(ACME, brand.id)
    settle()

    status = brands.compile_run(ACME, compiled.id).evidence_status
    sources = brands.status(ACME, compiled.id).sources
    ((document,),) = rows(
        brands,
        f"select document from brands_evidence_status where compile_run_id = '{compiled.id}'",  # noqa: S608
    )
    assert all(status.values())
    assert json.loads(document) == status == evidence_status(source.outcome for source in sources)


def test_a_compile_that_is_requeued_is_not_over_any_more(brands, brand, bench, settle):
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.fail_effect("draft", Permanent("The model refused to answer."))
    settle()
    brands.app.operations().dead_letters.requeue(compiled.job_id)
    settle()

    run = brands.compile_run(ACME, compiled.id)
    assert (run.status, run.error, len(run.evidence_status["refreshed"])) == ("succeeded", None, 1)

"""Guards that nothing else would miss: what is fresh, and whose a run is."""

from __future__ import annotations

from tests.apps.brands.scenes import ACME, connect, count, runs_of


def test_a_run_that_failed_is_not_fresh_and_another_one_is_bought(brands, brand, sandbox, settle):
    sandbox.apify.script(ending="FAILED")
    (connection,) = connect(brands, brand, settings={"cap": 3})
    for _ in range(2):
        compiled = brands.compile(ACME, brand.id)
        settle()

    (told,) = brands.status(ACME, compiled.id).sources
    assert (told.outcome.outcome, len(sandbox.books.paid_runs())) == ("refreshed", 2)
    assert [run.error_class for run in runs_of(brands, connection)] == [None, "RunFailed"]


def test_what_is_reused_is_normalized_first(brands, brand, settle):
    connect(brands, brand, settings={"cap": 3})
    brands.compile(ACME, brand.id)
    settle()
    for lost in (
        "update brands_runs set normalized_at = null",
        "delete from brands_evidence_refs",
        "delete from brands_evidence",
    ):
        brands.app.store.database.transact(lambda connection, lost=lost: connection.execute(lost))

    compiled = brands.compile(ACME, brand.id)
    settle()

    (told,) = brands.status(ACME, compiled.id).sources
    assert (told.outcome.outcome, told.outcome.normalized_created) == ("reused", 3)
    assert count(brands, "brands_evidence") == 3


def test_a_run_that_has_a_job_is_left_to_it(brands, brand, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    bench.advance("10 min")
    before = count(brands, "haulwright_jobs")

    told = bench.run_inline(brands.tidy_task)

    assert told["left_behind"] == 0
    assert count(brands, "haulwright_jobs") == before
    assert len(runs_of(brands, connection)) == 1

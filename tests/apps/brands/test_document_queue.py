"""Document 000, the queue (lines 57 to 64, 185 to 310, 363 to 378, 1012 to 1293): claims, tries and ends of jobs."""

from __future__ import annotations

import inspect
import logging
import re

import pytest

from haulwright.apps.brands import compat
from haulwright.apps.brands.compat import NO_JOB, TAKEN, BrandBrain
from haulwright.apps.brands.retry import COMPILE_RETRY
from haulwright.engine.ids import new_id
from haulwright.errors import Conflict
from haulwright.testing.harness import START
from tests.apps.brands.scenes import ACME, SIX, connect, moment, row

line = pytest.mark.line


@line("188-191", "claim_next_job takes worker_id and job_type")
@line("1017-1020", "so it does in the appendix")
def test_the_signature_of_claim():
    parameters = inspect.signature(BrandBrain.claim_next_job).parameters

    assert (parameters["worker_id"].default, parameters["job_type"].default) == (None, "compile")


@line("206-207", "a worker without a name is its host and eight hexadecimal digits")
@line("1035-1036", "so it is in the appendix")
@pytest.mark.usefixtures("made")
def test_the_name_of_a_worker(words, brands):
    words.claim_next_job()

    assert re.fullmatch(r".+-[0-9a-f]{8}", row(brands, "locked_by"))


@line("196", "the next job is pending and available now")
@line("1024-1051", "so it is in the appendix")
@line("212-223", "by available_at, then by created_at")
def test_the_order_of_claims(words, brand, bench):
    first, second, third = (words.enqueue_compile_job(brand.id, new_id()).job_id for _ in range(3))
    words.claim_next_job()
    words.fail_job(first, "later")

    order = [words.claim_next_job().job.id for _ in range(2)]
    bench.advance("60 s")

    assert (order, words.claim_next_job().job.id) == ([second, third], first)


@line("212-223", "a compile that is due is found, whatever else is due")
def test_a_compile_is_found_among_the_jobs_of_sources(words, brands, brand, bench):
    connect(brands, brand, *(("instagram", "posts", f"acme{number}") for number in range(25)))
    brands.compile(ACME, brand.id)
    bench.drain(limit=1)
    due = words.enqueue_compile_job(brand.id, new_id())

    claimed = words.claim_next_job()

    assert claimed.claimed, claimed.reason
    assert claimed.job.id == due.job_id


@line("225-230", "without a job the reason is: No available jobs")
@line("1054-1059", "so it is in the appendix")
def test_a_claim_without_a_job(words):
    claimed = words.claim_next_job()

    assert (claimed.job, claimed.claimed, claimed.reason) == (None, False, "No available jobs")
    assert NO_JOB == "No available jobs"


@line("57", "a claim sets running, locked_at and locked_by")
@line("197-198", "it updates one job to running, and returns it")
@line("200-202", "on SQLite too, by one transaction")
@line("1061-1071", "so it is in the appendix")
@line("232-242", "in one atomic update that counts the attempt")
@line("590", "pending to running when a worker claims it")
@line("1174", "locked_at is set by the claim")
@line("1175", "attempts grow with it")
@pytest.mark.usefixtures("made")
def test_what_a_claim_sets(words, brands):
    assert words.claim_next_job(worker_id="worker-1").claimed

    status, attempts, locked_by, locked_at = row(brands, "status, attempts, locked_by, locked_at")
    assert (status, attempts, locked_by, moment(locked_at)) == ("running", 1, "worker-1", START)


@line("58", "nobody claims a job twice")
@line("244-250", "who comes second hears: Job claimed by another worker")
@line("1073-1079", "so it is in the appendix")
@line("1173", "of two who saw the same job one gets it")
@line("1182", "one update succeeds, the other does not")
@line("1191-1192", "a running job is claimed by nobody else")
@pytest.mark.usefixtures("made")
def test_two_who_race_for_a_job(words, brands):
    other = BrandBrain(brands, ACME)
    brands.app.store.leases.claim_of_task = lambda *_: None  # as for whoever finds the row locked
    beaten = other.claim_next_job("second")
    del brands.app.store.leases.claim_of_task
    first, second = words.claim_next_job("first"), other.claim_next_job("second")

    assert (first.claimed, second.claimed, beaten.claimed) == (True, False, False)
    assert beaten.reason == TAKEN == "Job claimed by another worker"


@line("252-258", "the claim returns the job with its fields")
def test_a_claim_returns_the_job(words, made, brand):
    job = words.claim_next_job("worker-1").job

    assert (job.id, job.compile_run_id, job.brand_id) == (made.job_id, made.compile_run_id, brand.id)
    assert (job.status, job.locked_by, job.params_json["force_refresh"]) == ("running", "worker-1", False)


@line("1084-1091", "the claim logs job, brand, attempt of how many, and worker")
def test_a_claim_is_logged(words, made, caplog):
    with caplog.at_level(logging.INFO):
        words.claim_next_job("worker-1")

    assert made.job_id in caplog.text


@line("264-281", "to fail a job that is not there answers False")
@line("1221-1225", "and changes nothing")
def test_a_job_that_is_not_there_cannot_fail(words):
    assert words.fail_job(new_id(), "boom") is False


@line("61-64", "a job has three attempts, waits between them, and keeps its last error")
@line("1247-1258", "so it is in the appendix")
@line("1210-1213", "and in its words")
@line("1285", "attempts are counted by the claim")
@line("268-271", "with attempts left a failed job is pending again, later, with its error")
@line("297-310", "its lock is cleared")
@line("592", "running to pending by fail_job with attempts left")
@line("1289", "after the first try 60 seconds")
@line("1290", "after the second 120 seconds")
@line("1283", "the wait is 30 seconds times two to the power of the attempts")
def test_a_failed_job_waits(words, brands, made, bench):
    waits = []
    for _ in range(2):
        words.claim_next_job()
        assert words.fail_job(made.job_id, "boom") is True
        status, last_error, locked_at, locked_by, available_at = row(
            brands, "status, last_error, locked_at, locked_by, available_at"
        )
        assert (status, last_error, locked_at, locked_by) == ("pending", "boom", None, None)
        waits.append((moment(available_at) - bench.now).total_seconds())
        bench.advance(waits[-1])

    assert waits == [60, 120]


@line("273-274", "without attempts left it has failed")
@line("1229-1245", "so it is in the appendix")
@line("1215-1217", "and in its words")
@line("285-295", "with its finish, its error and no lock")
@line("593", "running to failed by fail_job at the last attempt")
@line("1291-1293", "the third failure is final")
@line("684", "three attempts with exponential backoff")
def test_the_third_failure_is_final(words, brands, made, bench):
    for _ in range(3):
        words.claim_next_job()
        words.fail_job(made.job_id, "boom")
        bench.advance("3 min")

    status, last_error, attempts, finished_at, locked_by = row(
        brands, "status, last_error, attempts, finished_at, locked_by"
    )
    assert (status, last_error, attempts, locked_by) == ("failed", "boom", 3, None)
    assert finished_at is not None


@line("1239-1244", "a final failure is logged")
@line("1260-1267", "a retry is logged with its error")
def test_a_failure_is_logged(words, made, caplog):
    words.claim_next_job()
    with caplog.at_level(logging.INFO):
        words.fail_job(made.job_id, "boom")

    assert made.job_id in caplog.text


@line("1106-1111", "BACKOFF_BASE_SECONDS is 30 and BACKOFF_MULTIPLIER is 2")
@line("1271-1279", "they are constants of the queue")
def test_the_names_of_the_backoff():
    assert (compat.BACKOFF_BASE_SECONDS, compat.BACKOFF_MULTIPLIER) == (30, 2)


@line("1106-1111", "the backoff is 30 seconds, doubling")
def test_the_figures_of_the_backoff():
    assert (COMPILE_RETRY.base_us / 1e6, COMPILE_RETRY.factor) == (30, 2)


@line("363-378", "a claimed job is executed by execute_compile_job and then completed")
@line("376", "complete_job ends a job that was executed")
@line("591", "running to succeeded by complete_job")
def test_a_claimed_job_is_executed_and_completed(hurried):
    words, brand = BrandBrain(hurried, ACME), hurried.add(ACME, "Acme")
    connect(hurried, brand, SIX[0], settings={"cap": 2})
    words.enqueue_compile_job(brand.id, new_id(), model=None)
    job = words.claim_next_job().job

    words.execute_compile_job(compile_run_id=job.compile_run_id, force_refresh=job.params_json["force_refresh"])

    assert words.complete_job(job.id)
    assert row(hurried) == "succeeded"
    assert hurried.compile_run(ACME, job.compile_run_id).evidence_status["refreshed"]


@line("376", "a compile that is completed has its evidence and its snapshot: without them it is refused")
def test_what_is_completed_has_a_snapshot(words, made):
    words.claim_next_job()

    with pytest.raises(Conflict, match="no snapshot"):
        words.complete_job(made.job_id)

"""Document 000, stale locks (lines 59, 594 to 595, 1095 to 1197): a job whose worker died is run again, or fails."""

from __future__ import annotations

import logging

import pytest

from haulwright.apps.brands import compat
from haulwright.errors import HaulwrightError
from tests.apps.brands.scenes import moment, row

line = pytest.mark.line


@line("1103-1104", "DEFAULT_STALE_LOCK_MINUTES is 10")
@line("1187", "a lock is stale after ten minutes")
def test_the_threshold_of_a_stale_lock(words, made, bench):
    words.claim_next_job()
    bench.advance("599 s")
    assert words.release_stale_jobs() == 0
    bench.advance("2 s")

    assert made
    assert (compat.DEFAULT_STALE_LOCK_MINUTES, words.release_stale_jobs()) == (10, 1)


@line("1114-1124", "release_stale_jobs makes a stale job pending, available now")
@line("59", "a stale lock is found by its age")
@line("594", "running to pending by release_stale_jobs")
@line("1127-1137", "every stale job is looked at")
@line("1152-1161", "its lock is cleared")
@line("1169", "it returns how many there were")
@line("1181", "the job of a worker that crashed is pending after ten minutes")
@pytest.mark.usefixtures("made")
def test_a_stale_job_is_released(words, brands, bench):
    words.claim_next_job()
    bench.advance("601 s")

    assert words.release_stale_jobs() == 1
    status, locked_by, available_at = row(brands, "status, locked_by, available_at")
    assert (status, locked_by, moment(available_at)) == ("pending", None, bench.now)


@line(
    "1114-1116",
    "another threshold can be given",
    differs="a lock is as old as its lease allows, which a living worker renews",
    page="how-to/choose-a-lease.md#choose-a-lease",
)
def test_another_threshold(words):
    try:
        words.release_stale_jobs(stale_threshold_minutes=5)
    except HaulwrightError as refused:
        pytest.fail(str(refused))


@line("1138-1147", "a stale job without attempts left has failed")
@line("595", "running to failed by release_stale_jobs at the last attempt")
@line("1184", "no job is stuck for ever: after three it has failed")
@line("1195-1197", "no job is lost")
@pytest.mark.usefixtures("made")
def test_a_stale_job_fails_in_the_end(words, brands, bench):
    for _ in range(3):
        assert words.claim_next_job().claimed
        bench.advance("601 s")
        words.release_stale_jobs()
        bench.advance("10 min")

    assert row(brands, "status, finished_at is not null") == ("failed", 1)


@pytest.fixture
def lost(words, made, bench):
    """Loses the lock of a job so often, and gives the job."""

    def lose(times):
        for _ in range(times):
            words.claim_next_job()
            bench.advance("601 s")
            words.release_stale_jobs()
            bench.advance("10 min")
        return words.get_job(made.job_id)

    return lose


@pytest.mark.parametrize(
    ("losses", "text"),
    [
        pytest.param(
            3,
            "Stale lock after 3 attempts",
            marks=line("1142", "its last error is: Stale lock after 3 attempts"),
        ),
        pytest.param(
            1,
            "Released from stale lock",
            marks=line("1156", "the last error of a released job is: Released from stale lock"),
        ),
    ],
)
def test_the_last_error_of_a_stale_job(lost, losses, text):
    assert lost(losses).last_error == text


@line("1156", "the table has the same words")
def test_the_last_error_of_a_stale_job_in_the_view(brands, lost):
    lost(1)

    assert row(brands, "last_error") == "Released from stale lock"


@line(
    "1183",
    "a job that takes longer than ten minutes may run twice",
    differs="a living worker renews its lease, and one that lost it can change nothing",
    page="decisions/0003-a-fence-beside-the-attempts.md",
)
@line(
    "1188-1193",
    "its first worker may finish what was given to another",
    differs="a living worker renews its lease, and one that lost it can change nothing",
    page="decisions/0003-a-fence-beside-the-attempts.md",
)
def test_a_worker_that_lost_its_job_can_finish_it(words, made, bench):
    words.claim_next_job("first")
    bench.advance("601 s")
    words.release_stale_jobs()

    assert words.complete_job(made.job_id)


@line("1148-1151", "a job that failed by a stale lock is logged")
@line("1162-1166", "a job that was released is logged, with who had locked it")
def test_a_release_is_logged(words, made, bench, caplog):
    with caplog.at_level(logging.INFO, "haulwright.brands"):
        for _ in range(3):
            words.claim_next_job()
            bench.advance("601 s")
            words.release_stale_jobs()
            bench.advance("1 h")

    released, *_, failed = [record.getMessage() for record in caplog.records if "stale" in record.getMessage()]
    assert released.startswith(f"Released stale job {made.job_id} for retry (was locked by ")
    assert failed == f"Job {made.job_id} failed due to stale lock after max attempts"

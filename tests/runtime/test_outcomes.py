"""How a run ends: by what the task returns, and by the class of what it raises."""

from __future__ import annotations

import asyncio
import math

import pytest

from haulwright import (
    AuthFailed,
    Bury,
    Cancel,
    Cancelled,
    Done,
    Haulwright,
    Permanent,
    Principal,
    Retry,
    Retryable,
    Skip,
    Snooze,
    Throttled,
)
from haulwright.apps.brands.retry import COMPILE_RETRY as BRANDS
from haulwright.apps.prices.retry import COLLECT_RETRY as PRICES
from haulwright.apps.syncs.retry import SYNC_RETRY as SYNCS
from haulwright.clock import SECOND
from haulwright.errors import DatabaseUnavailable, LeaseLost, TimedOut

app = Haulwright()
script: list[object] = []

QUEUED, DEAD = "queued", "dead"


def play() -> object:
    """Do the next step of the test's script."""
    step = script.pop(0) if script else None
    if isinstance(step, BaseException):
        raise step
    return step


@app.task(retry=Retry(3, base="1 min", jitter=0))
def act() -> object:
    return play()


@app.task(retry=Retry(3, base="1 min", jitter=0))
async def aact() -> object:
    return play()


@app.task(retry=BRANDS)
def compile_brand() -> object:
    return play()


@app.task(retry=SYNCS)
def sync() -> object:
    return play()


@app.task(retry=PRICES)
def scrape() -> object:
    return play()


class Shy(Exception):
    """An error that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    script.clear()
    bench.use(app)


def run_once(bench, step, task=act):
    """Enqueue a job whose first run does this, run it once, and return its row and how long it waits."""
    script.append(step)
    handle = task.enqueue()
    bench.drain(limit=1)
    job = handle.job()
    return job, (job.run_at - bench.clock.now()) / SECOND


@pytest.mark.proves("JOB-16", "JOB-17", "RT-02", "RT-06", "RT-07", "RT-09", "RT-10", "CLM-16")
@pytest.mark.parametrize("task", [act, aact])
@pytest.mark.parametrize(
    ("step", "state", "reason", "attempts", "wait", "code"),
    [
        (None, "succeeded", None, 1, 0, None),
        (Done('{"a": 1}'), "succeeded", None, 1, 0, None),
        (Done("not json"), DEAD, "unstorable", 1, 0, "invalid_payload"),
        (Skip("a duplicate"), "skipped", "a duplicate", 1, 0, None),
        (Cancel("not needed"), "cancelled", "not needed", 1, 0, None),
        (Bury("no such shop"), DEAD, "no such shop", 1, 0, "buried"),
        (Snooze(90, "shop"), QUEUED, None, 0, 90, None),
        (Snooze(math.nan), QUEUED, None, 0, 0, None),
        (Throttled(after=30), QUEUED, None, 0, 30, "throttled"),
        (Retryable("later", after=7), QUEUED, None, 1, 7, "retryable"),
        (Retryable("later"), QUEUED, None, 1, 60, "retryable"),
        (TimedOut("slow"), QUEUED, None, 1, 60, "timed_out"),
        (TimeoutError(), QUEUED, None, 1, 60, "timeout"),
        (ConnectionResetError("gone"), QUEUED, None, 1, 60, "connection"),
        (KeyError("sku"), QUEUED, None, 1, 60, "key_error"),
        (SystemExit(3), QUEUED, None, 1, 60, "system_exit"),
        (asyncio.CancelledError(), QUEUED, None, 1, 60, "cancelled_error"),
        (Shy(), QUEUED, None, 1, 60, "shy"),
        (DatabaseUnavailable("away"), QUEUED, None, 0, 0.5, None),
        (Permanent("never"), DEAD, "permanent", 1, 0, "permanent"),
        (AuthFailed("refused"), DEAD, "auth", 1, 0, "auth_failed"),
        (Cancelled("stop"), "cancelled", "stop", 1, 0, None),
        (object(), DEAD, "unstorable", 1, 0, "invalid_payload"),
        ({"x": math.nan}, DEAD, "unstorable", 1, 0, "invalid_payload"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_run_ends_as_it_says(bench, task, step, state, reason, attempts, wait, code):  # noqa: PLR0913, PLR0917 - a table
    job, waits = run_once(bench, step, task)

    assert (job.state, job.reason, job.attempts, job.error_code) == (state, reason, attempts, code)
    assert waits == wait or state != QUEUED
    assert (job.worker_id is None) == (state == QUEUED)


@pytest.mark.proves("RT-07")
def test_a_closed_gate_is_named_and_counted_and_nothing_else_is(bench):
    job, _ = run_once(bench, Throttled("slow down", after=30, gate="shop.example"))

    assert (job.waiting_on, job.deferrals, job.attempts, job.losses) == ("shop.example", 1, 0, 0)


@pytest.mark.proves("JOB-09", "JOB-20", "RT-02")
def test_the_last_error_is_kept_with_its_class(bench):
    script.extend([ValueError("one"), KeyError("two"), None])
    handle = act.enqueue()
    bench.drain(limit=1)
    first = handle.job()
    bench.advance("1 min")
    bench.drain(limit=1)

    assert (first.error_class, first.error_message) == ("ValueError", "one")
    assert (handle.job().error_class, handle.job().error_message) == ("KeyError", "'two'")


def waits_of(bench, task, failures):
    """How long a job waits after each of so many failures, and how it ends."""
    script.extend(ValueError(str(n)) for n in range(failures))
    handle = task.enqueue()
    waits = []
    for _ in range(failures):
        assert bench.drain() == 1
        job = handle.job()
        if job.state != QUEUED:
            break
        waits.append((job.run_at - bench.clock.now()) / SECOND)
        bench.clock.set(job.run_at - 1)
        assert bench.drain() == 0  # a moment before its time it is not due
        bench.clock.set(job.run_at)
    return waits, handle.job()


@pytest.mark.proves("RT-01", "RT-13", "RT-11")
def test_the_brands_preset_waits_60_s_then_120_s_and_then_gives_up(bench):
    waits, job = waits_of(bench, compile_brand, 3)

    assert waits == [60, 120]
    assert (job.state, job.reason, job.attempts) == (DEAD, "attempts_exhausted", 3)


@pytest.mark.proves("RT-05", "RT-13")
def test_the_prices_preset_waits_a_minute_doubling(bench):
    waits, job = waits_of(bench, scrape, 5)

    assert waits == [60, 120, 240, 480]
    assert (job.state, job.attempts) == (DEAD, 5)


@pytest.mark.proves("RT-04", "RT-13")
def test_the_syncs_preset_waits_a_minute_doubling_give_or_take_a_quarter_and_runs_six_times(bench):
    waits, job = waits_of(bench, sync, 6)

    assert len(waits) == 5
    for wait, middle in zip(waits, [60, 120, 240, 480, 960], strict=True):
        assert 0.75 * middle <= wait <= 1.25 * middle
    assert (job.state, job.attempts) == (DEAD, 6)


def test_an_attempt_of_a_snoozed_job_is_given_back_every_time(bench):
    script.extend([Snooze(1)] * 10 + [None])
    handle = act.enqueue()
    for _ in range(11):
        bench.drain()
        bench.advance("1 s")

    job = handle.job()
    assert (job.state, job.attempts, job.deferrals, job.fence) == ("succeeded", 1, 10, 11)


@pytest.mark.proves("GU-04")
def test_a_run_that_says_its_lease_is_lost_settles_nothing(bench):
    job, _ = run_once(bench, LeaseLost("x", 1))

    assert (job.state, job.attempts) == ("running", 1)


def test_a_reason_is_stored_without_secrets_and_without_what_cannot_be_stored(bench):
    long, _ = run_once(bench, Skip("token=abc123 \0 " + "x" * 5000))

    assert long.reason.startswith("token=*** ")
    assert "\0" not in long.reason
    assert len(long.reason.encode()) <= 500


@pytest.mark.proves("LG-03")
def test_an_error_is_stored_without_secrets_and_cut_where_it_is_too_long(bench):
    job, _ = run_once(bench, ValueError("Authorization: Bearer abcdef.ghi " + "x" * 100_000))

    assert "abcdef" not in job.error_message
    assert len(job.error_message.encode()) <= 8192


@pytest.mark.parametrize(
    ("step", "code", "message"),
    [
        (Throttled("the shop answered 429", after=60), "throttled", "the shop answered 429"),
        (AuthFailed("the key was refused", credential="shop@all", shared=True), "auth_failed", "the key was refused"),
        (Throttled("the source is over its rate", after=60, gate="source:shop:rate"), None, None),
    ],
)
def test_a_job_that_was_sent_away_says_by_what_until_its_deadline_and_in_its_dead_letter(bench, step, code, message):
    """A closed gate of ours is nothing that went wrong: what it says is the gate."""
    job, _ = run_once(bench, step)
    assert (job.state, job.attempts, job.error_code, job.error_message) == (QUEUED, 0, code, message)

    why = app.operations(Principal.admin("root")).jobs.why(job.id).sentence
    bench.advance("8 days")
    bench.store.recovery.expire()
    dead = bench.store.listing.get(job.id)

    assert (dead.state, dead.reason, dead.error_code) == (DEAD, "deadline", code or "deadline")
    assert dead.error_message.startswith("waited past its deadline")
    if message:
        assert message in dead.error_message
        assert message in why or "refused its credential" in why


@pytest.mark.parametrize("name", ["HTTPStatusError", "OSFault", "Http2Error", "ABTest"])
def test_the_code_of_an_error_is_its_name_in_words(bench, name):
    codes = {
        "HTTPStatusError": "http_status_error",
        "OSFault": "os_fault",
        "Http2Error": "http2_error",
        "ABTest": "ab_test",
    }
    job, _ = run_once(bench, type(name, (Exception,), {})("no"))

    assert job.error_code == codes[name]

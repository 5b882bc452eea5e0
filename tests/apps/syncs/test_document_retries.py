"""Document 002, lines 80 to 104, 163 to 164, 180 to 181, each executed or compared: errors, retries and rates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haulwright.apps.syncs.retry import SYNC_RETRY
from tests.apps.syncs.scenes import QUICK, World, support, words

line = pytest.mark.line
JOBS = "/airbyte/v1/jobs"


@line("37", "retry_count is at most 5")
@line("96", "five retries at most")
@line("164", "a sync that failed after five retries is a dead letter")
def test_five_retries_and_no_more(world):
    world.connect()
    world.sandbox.airbyte.script(ending="failed", times=None)
    world.finish(world.dispatch(), "6 min")

    assert world.rows("select status, retry_count from ingestion_jobs") == [("dead_letter", 5)]
    assert len(world.remote()) == 6


@line("41", "a job that Airbyte throttles has its class of error as well")
def test_a_throttled_job_has_an_error_code(world):
    world.connect()
    world.sandbox.faults.add("rate_limit", path=JOBS, method="POST", retry_after=600)
    world.dispatch()
    world.bench.drain()

    assert world.rows("select error_code from ingestion_jobs") == [("rate_limit",)]


@pytest.mark.parametrize("code", [401, 403])
@line("85", "401 and 403 end a job at once as a dead letter, where the credential is the tenant's own")
@line("163", "a refused credential makes a dead letter at once")
def test_a_refused_credential_of_a_tenants_own(world, code):
    world.connect(credential="own-acme")
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=code, times=2)

    world.finish(world.dispatch())

    assert world.rows("select status, retry_count, error_code from ingestion_jobs") == [
        ("dead_letter", 0, "auth_error")
    ]


@line(
    "85",
    "so they do where the credential is shared",
    differs="it would kill the jobs of all tenants; they wait until the credential is mended",
    page="applications/syncs.md#credentials",
)
def test_a_refused_credential_that_is_shared(world):
    world.connect()
    world.sandbox.airbyte.script(revoke="client-shared")
    world.dispatch()
    world.go("5 min", times=2)

    assert words(world) == "dead_letter"


@line("85", "a 403 of one connection is that job's alone")
def test_a_bare_403_closes_nothing_for_others(world):
    world.connect()
    world.connect("globex")
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=403, body="<html>Forbidden</html>")
    world.dispatch()
    world.bench.drain()

    world.dispatch(tenant="globex")
    world.go("1 min", times=2)

    assert world.rows("select status from ingestion_jobs where tenant_id = 'globex'") == [("success",)]


@line("86", "429 is tried again after Retry-After")
def test_retry_after_is_waited_for(world):
    world.connect()
    world.sandbox.faults.add("rate_limit", path=JOBS, method="POST", retry_after=600)
    job_id = world.dispatch()
    world.go("1 min", times=9)
    assert world.remote() == []

    world.go("1 min", times=3)

    assert len(world.remote()) == 1
    assert world.finish(job_id).attempts == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        pytest.param({"kind": "status", "code": 502}, "server_error", marks=line("87", "5xx is retried with backoff")),
        pytest.param(
            {"kind": "refuse"}, "connection_error", marks=line("89", "a lost connection is retried with backoff")
        ),
    ],
)
def test_what_fails_is_retried_with_backoff(world, fault, code):
    world.connect()
    world.sandbox.faults.add(path=JOBS, method="POST", **fault)
    job_id = world.dispatch()
    world.bench.drain()

    assert world.rows("select status, error_code from ingestion_jobs") == [("failed", code)]
    assert 45 <= world.events(job_id, "job.retry")[0].data["delay_seconds"] <= 75
    world.finish(job_id)
    assert words(world) == "success"


@line("88", "a time-out is retried with backoff")
def test_a_timeout_is_retried_with_backoff(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, longest="10 min"))
    world.connect()
    world.sandbox.airbyte.script(ending="never")
    job_id = world.dispatch()
    world.go("6 min", times=2)

    assert world.rows("select status, error_code from ingestion_jobs") == [("failed", "timeout")]
    assert 45 <= world.events(job_id, "job.retry")[-1].data["delay_seconds"] <= 75


@line("91", "the wait is the base doubled with each attempt, and jitter")
@line("93", "the base is 60 seconds")
@line("94", "a wait is at most 3600 seconds")
@line("95", "the jitter is a quarter up or down")
def test_the_waits_between_retries():
    middle = [SYNC_RETRY.delay_us(attempt, lambda: 0.5) / 1e6 for attempt in range(1, 9)]
    low, high = (SYNC_RETRY.delay_us(1, lambda draw=draw: draw) / 1e6 for draw in (0.0, 1.0))

    assert middle == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert (round(low), round(high)) == (45, 75)


@line("102", "the client limits the triggers of each connector")
@line("180", "60 seconds at least between two triggers of a connector")
def test_a_connector_is_triggered_once_a_minute(world):
    world.connect(external_account_id="one")
    world.sandbox.airbyte.script(duration_seconds=0, times=None)
    for _ in range(2):
        world.syncs.dispatch(support(), "shop")
        world.bench.drain()
        world.bench.advance("15 s")
        world.bench.drain()

    assert len(world.remote()) == 1
    world.go("15 s", times=5)
    first, second = world.remote()
    assert second.started - first.started >= 60


@line("103", "the client limits the triggers of each external account")
@line("181", "an external account has a limit of its own, whoever asks")
def test_an_account_is_triggered_once_a_minute_whichever_tenants_it_serves(world):
    for tenant in ("acme", "globex"):
        world.connect(tenant, external_account_id="one-shop")
        world.dispatch(tenant=tenant)
    world.bench.drain()
    assert sum(len(world.remote(tenant)) for tenant in ("acme", "globex")) == 1

    world.go("30 s", times=4)

    starts = [world.remote(tenant)[0].started for tenant in ("acme", "globex")]
    assert abs(starts[0] - starts[1]) >= 60


@line("104", "the client classifies errors, and the class decides about a retry")
def test_the_class_of_an_error_decides(world):
    ends = {}
    for name, code in (("a", 500), ("b", 402), ("c", 404)):
        world.connect(name=name)
        world.sandbox.faults.add("status", path=JOBS, method="POST", code=code)
        world.dispatch(name)
        world.bench.drain()
        ends[code] = world.rows(f"select status from ingestion_jobs where connector_id = '{name}'")[0][0]  # noqa: S608

    assert ends == {500: "failed", 402: "dead_letter", 404: "dead_letter"}

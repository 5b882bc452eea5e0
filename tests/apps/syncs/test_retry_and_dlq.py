"""Retries and dead letters: the budget, credentials that are refused, and another life by support alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haulwright.apps.syncs.credentials import Credentials
from haulwright.engine.transitions import State
from haulwright.errors import AlreadyRequeued, Conflict, Forbidden, NotFound
from haulwright.operations.principal import Principal
from haulwright.sources.http import Secret
from tests.apps.syncs.scenes import QUICK, SECRETS, World, support

JOBS = "/airbyte/v1/jobs"
SOURCE = "airbyte@shared"


def a_dead_letter(world):
    """A sync that died because the tenant's own credential was refused."""
    world.connect(credential="own-acme")
    world.sandbox.airbyte.script(revoke="client-own-acme")
    job_id = world.dispatch(correlation_id="req-1")
    assert world.finish(job_id).state is State.DEAD
    return job_id


@pytest.mark.proves("TS-03", "DL-01", "AU-05")
def test_after_five_retries_a_sync_is_a_dead_letter_with_its_last_error(world):
    world.connect()
    world.sandbox.airbyte.script(ending="failed", times=None)

    job_id = world.dispatch()
    job = world.finish(job_id, "6 min")

    (told,) = world.events(job_id, "job.dead_lettered")
    assert (job.state, job.reason, job.attempts, len(world.remote())) == (State.DEAD, "attempts_exhausted", 6, 6)
    assert (told.data["retry_count"], told.data["error_code"]) == (5, "sync_failed")
    assert told.data["error_message"].startswith("Airbyte's run ")


@pytest.mark.proves("TS-03")
def test_the_sixth_execution_may_still_succeed(world):
    world.connect()
    world.sandbox.airbyte.script(ending="failed", times=5)

    job = world.finish(world.dispatch(), "6 min")

    assert (job.state, job.attempts) == (State.SUCCEEDED, 6)


@pytest.mark.proves("TS-03", "RT-06", "DL-01")
def test_a_tenants_own_credential_that_is_refused_kills_its_job_at_once_and_no_other(world):
    world.connect("globex")
    others = world.dispatch(tenant="globex")
    job_id = a_dead_letter(world)

    job = world.job(job_id)

    assert (job.reason, job.error_code, job.attempts) == ("auth", "auth_error", 1)
    assert world.finish(others).state is State.SUCCEEDED


def test_a_credential_that_is_revoked_while_a_sync_runs_ends_it_with_its_reason(world):
    world.connect(credential="own-acme")
    world.sandbox.airbyte.script(duration_seconds=1800)
    job_id = world.dispatch()
    world.go("1 min")

    world.sandbox.airbyte.script(revoke="client-own-acme")
    job = world.finish(job_id)

    assert (job.state, job.reason, job.error_code) == (State.DEAD, "auth", "auth_error")
    assert world.rows("select count(*) from syncs_runs where settled_at is null") == [(0,)]
    assert {one.state for one in world.bench.all_enqueued(world.syncs.poll_task)} == {State.SUCCEEDED}


@pytest.mark.proves("TS-03")
def test_a_shared_credential_that_is_refused_keeps_all_waiting_and_kills_none(world):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
    world.sandbox.airbyte.script(revoke="client-shared")
    jobs = [world.dispatch(tenant=tenant) for tenant in ("acme", "globex")]
    world.go("5 min", times=3)

    waiting = [world.job(job_id) for job_id in jobs]
    assert {(job.state, job.attempts, job.waiting_on) for job in waiting} == {
        (State.QUEUED, 0, f"source:{SOURCE}:credential")
    }
    assert world.bench.store.sources.get(SOURCE).standing.breaker == "refused"

    world.sandbox.airbyte.tokens.revoked.clear()
    world.bench.store.sources.resume(SOURCE, actor="test")

    assert [world.finish(job_id).state for job_id in jobs] == [State.SUCCEEDED, State.SUCCEEDED]


@pytest.mark.proves("DL-04")
@pytest.mark.parametrize("trouble", ["rate_limit", "auth_error"])
def test_a_sync_that_waited_past_its_deadline_says_what_it_waited_for(world, trouble):
    world.connect()
    if trouble == "auth_error":
        world.sandbox.airbyte.script(revoke="client-shared")
    else:
        world.sandbox.faults.add("rate_limit", path=JOBS, method="POST", retry_after=6 * 3600, times=None)

    job = world.finish(world.dispatch(), "12 h", most=20)

    assert (job.state, job.reason, job.error_code) == (State.DEAD, "deadline", trouble)
    ((code, message),) = world.rows("select error_code, error_message from ingestion_jobs where status = 'dead_letter'")
    assert code == trouble
    assert "deadline" in message
    (counted,) = world.syncs.stats.all()["dead_letters"]
    assert counted["error_code"] == trouble


def test_another_shared_credential_opens_what_the_refused_one_closed(bench, sandbox, monkeypatch):
    world = World.open(bench, sandbox)
    world.connect()
    sandbox.airbyte.script(revoke="client-shared")
    job_id = world.dispatch()
    world.go("1 min")
    assert world.job(job_id).waiting_on == f"source:{SOURCE}:credential"

    mended = Credentials("shared", Secret("another-secret-0002"), "client-mended")
    monkeypatch.setattr("tests.apps.syncs.scenes.vault", lambda name: mended if name == "shared" else None)
    bench._apps.clear()
    world = World.open(bench, sandbox)

    assert world.finish(job_id).state is State.SUCCEEDED


def test_a_token_that_ended_early_is_renewed_and_closes_nothing(world):
    world.connect()
    world.connect(name="other")
    world.finish(world.dispatch())
    world.sandbox.airbyte.script(expire_tokens=True)

    job = world.finish(world.dispatch("other"))

    assert (job.state, job.attempts) == (State.SUCCEEDED, 1)
    assert world.bench.store.sources.get(SOURCE).standing.breaker == "closed"


FORBIDDEN = {
    "a problem of Airbyte": '{"type": "https://reference.airbyte.com/reference/errors#forbidden", "status": 403}',
    "a problem of a kind that nobody knows": '{"type": "error:workspace/suspended", "status": 403}',
    "a page of a gateway": "<html><h1>403 Forbidden</h1></html>",
    "JSON of a gateway": '{"message": "Forbidden"}',
    "nothing": "",
}


@pytest.mark.parametrize("body", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_a_shared_credential_may_not_do_kills_that_job_and_closes_nothing(world, body):
    world.connect()
    world.connect(name="other")
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=403, body=body)

    job = world.finish(world.dispatch())

    assert (job.state, job.reason, job.error_code) == (State.DEAD, "auth", "auth_error")
    assert world.bench.store.sources.get(SOURCE).standing.breaker == "closed"
    assert world.finish(world.dispatch("other")).state is State.SUCCEEDED


def test_a_403_that_names_the_shared_credential_closes_its_source_and_kills_nobody(world):
    world.connect()
    problem = '{"type": "error:auth/sso-required", "status": 403}'
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=403, body=problem)

    job_id = world.dispatch()
    world.go("1 min")

    job = world.job(job_id)
    assert (job.state, job.attempts, job.waiting_on) == (State.QUEUED, 0, f"source:{SOURCE}:credential")


def test_a_gateway_that_refuses_to_fetch_a_token_says_nothing_of_the_credential(world):
    world.connect()
    world.sandbox.faults.add("status", path="/airbyte/v1/applications/token", code=403, body="<html>Forbidden</html>")

    job_id = world.dispatch()
    world.bench.drain()

    waiting = world.job(job_id)
    assert (waiting.state, waiting.attempts, waiting.error_code) == (State.QUEUED, 1, "server_error")
    assert world.bench.store.sources.get(SOURCE).standing.breaker == "closed"
    assert world.finish(job_id).state is State.SUCCEEDED


def test_a_worker_without_the_credential_leaves_the_job_to_others(world, monkeypatch):
    world.connect(credential="own-acme")
    world.syncs.clients._clients.clear()
    monkeypatch.delitem(SECRETS, "own-acme")
    job_id = world.dispatch()
    world.bench.drain()
    waiting = world.job(job_id)

    monkeypatch.setitem(SECRETS, "own-acme", "own-acme-secret-0001")

    assert (waiting.attempts, waiting.waiting_on) == (0, "airbyte@own-acme")
    assert world.finish(job_id).state is State.SUCCEEDED


@pytest.mark.proves("TS-03", "DL-02")
def test_a_requeue_makes_a_new_linked_job_that_carries_the_ticket(world):
    letter = a_dead_letter(world)
    world.sandbox.airbyte.tokens.revoked.clear()

    made = world.syncs.requeue(support(), letter, correlation_id="ticket-4711")
    job = world.finish(made.id)

    assert (job.state, job.requeued_from, job.correlation_id) == (State.SUCCEEDED, letter, "ticket-4711")
    assert world.job(letter).requeued_to == made.id
    assert len(world.remote()) == 1


@pytest.mark.proves("TS-03", "DL-03")
@pytest.mark.parametrize("who", [Principal.of_tenant("acme"), Principal.of_tenant("globex")], ids=["own", "foreign"])
def test_a_tenant_cannot_requeue(world, who):
    letter = a_dead_letter(world)

    with pytest.raises(Forbidden):
        world.syncs.requeue(who, letter)

    assert world.job(letter).requeued_to is None


def test_support_for_one_tenant_does_not_see_the_dead_letters_of_another(world):
    letter = a_dead_letter(world)

    with pytest.raises(NotFound):
        world.syncs.requeue(support("globex"), letter)


def test_the_dead_letter_of_something_else_is_no_sync(world, app):
    @app.task(queue="syncs", retry=1)
    def fail() -> None:
        raise ValueError

    letter = fail.using(tenant="acme").enqueue().id
    world.bench.drain()

    with pytest.raises(NotFound):
        world.syncs.requeue(support(), letter)


def test_a_dead_letter_is_requeued_once_and_not_beside_an_active_sync(world):
    letter = a_dead_letter(world)
    world.sandbox.airbyte.tokens.revoked.clear()
    active = world.syncs.dispatch(support(), "shop")
    with pytest.raises(Conflict, match=active):
        world.syncs.requeue(support(), letter)
    world.finish(active)

    world.syncs.requeue(support(), letter)

    with pytest.raises(AlreadyRequeued):
        world.syncs.requeue(support(), letter)


def test_the_successor_of_a_dead_letter_takes_over_the_run_that_goes_on(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, poll="2 h"))
    world.connect()
    sandbox.airbyte.script(duration_seconds=4 * 3600)
    job_id = world.dispatch()
    world.bench.drain()
    for _ in range(6):
        world.app.operations().jobs.retry(job_id)
        with bench.crash(world.syncs.sync_task, after="claim"):
            bench.drain()
        bench.advance("10 min")
        bench.drain(limit=0)
    assert (world.job(job_id).state, world.job(job_id).reason) == (State.DEAD, "lease_exhausted")

    made = world.syncs.requeue(support(), job_id)
    job = world.finish(made.id, "20 min")

    assert (job.state, len(world.remote())) == (State.SUCCEEDED, 1)

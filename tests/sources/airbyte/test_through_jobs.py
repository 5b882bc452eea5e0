"""Syncs as jobs: whatever becomes of the trigger there is one sync, and the job ends where its error class belongs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from haulwright import Context, Retry
from haulwright.engine.transitions import State
from haulwright.errors import AuthFailed, Throttled
from haulwright.operations.principal import Principal
from haulwright.sources.airbyte import Airbyte
from haulwright.sources.http import Policy, Secret

JOBS = "/airbyte/v1/jobs"
TOKENS = "/airbyte/v1/applications/token"


@pytest.fixture
def source(app):
    """The whole account is one source: its credential closes it for everybody."""
    source = app.source("airbyte", credential=Secret("secret-of-the-fleet"), policy=Policy(private=True))
    yield source
    source.http.close()


@pytest.fixture
def airbyte(source, outside):
    base = f"{outside.url}/airbyte/v1"
    return Airbyte(source.http, "client-of-mine", "secret-of-mine", base, shared=True, clock=outside.clock.now)


@pytest.fixture
def connection(outside) -> Callable[[str], str]:
    """The first connection that has this status."""
    return lambda status: next(one.id for one in outside.airbyte.connections.values() if one.status == status)


@pytest.fixture
def sync(bench, app, source, airbyte):
    def newest(connection: str) -> int:
        found = airbyte.find(connection, after=0)
        return found.id if found else 0

    @app.task(source=source, retry=Retry(3, base="1 min", jitter=0))
    def sync(ctx: Context, connection: str) -> int:
        known = ctx.effect("look", newest, connection)
        begun = ctx.effect(
            "trigger", airbyte.trigger, connection, after=known, recover=lambda _: airbyte.find(connection, after=known)
        )
        if not airbyte.job(begun.id).is_terminal:
            raise Throttled(after=30)
        return begun.id

    bench.use(app)
    return sync


@pytest.fixture
def run(bench, sync):
    """Run a sync to its end, whatever happens on the way."""

    def go(connection: str):
        handle = sync.enqueue(connection)
        for _ in range(6):
            bench.drain()
            bench.advance("5 min")
        return handle

    return go


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "lost_reply"},
        {"kind": "status", "code": 500, "carried_out": True},
        {"kind": "status", "code": 500},
        {"kind": "refuse"},
    ],
    ids=["lost reply", "500 after it began", "500 before it began", "dropped before it began"],
)
def test_whatever_becomes_of_the_trigger_there_is_one_sync(outside, connection, run, fault):
    outside.faults.add(path=JOBS, method="POST", **fault)

    handle = run(connection("active"))

    (made,) = outside.airbyte.jobs()
    assert handle.result(0) == made.id


@pytest.mark.parametrize("when", ["before", "after"])
def test_wherever_the_process_dies_there_is_one_sync(bench, outside, connection, sync, when):
    handle = sync.enqueue(connection("active"))
    with bench.crash(sync, **{when: "trigger"}):
        bench.drain()
    for _ in range(4):
        bench.advance("5 min")
        bench.drain()

    assert (handle.state(), len(outside.airbyte.jobs())) == (State.SUCCEEDED, 1)


def test_a_sync_that_somebody_else_started_is_adopted(outside, connection, airbyte, run):
    begun = airbyte.trigger(connection("active"))

    assert run(connection("active")).result(0) == begun.id
    assert len(outside.airbyte.jobs()) == 1


def test_a_token_that_ended_is_renewed_and_closes_nothing(app, outside, connection, airbyte, run):
    airbyte.connection(connection("active"))
    outside.airbyte.script(expire_tokens=True)

    handle = run(connection("active"))

    assert (handle.state(), handle.job().attempts) == (State.SUCCEEDED, 1)
    assert (outside.books.count(path=TOKENS), len(outside.airbyte.jobs())) == (2, 1)
    assert app.sources["airbyte"].row().closing is None


def test_a_token_that_is_refused_twice_closes_the_source_until_somebody_opens_it(bench, app, outside, connection, run):
    outside.faults.add("status", path=JOBS, method="POST", code=401, times=2)

    handle = run(connection("active"))

    row = handle.job()
    assert (row.state, row.attempts, row.waiting_on) == (State.QUEUED, 0, "source:airbyte:credential")
    assert app.sources["airbyte"].row().closing.gate == "credential"
    app.sources["airbyte"].resume()
    assert (bench.drain(), len(outside.airbyte.jobs())) == (1, 1)


@pytest.mark.parametrize("status", ["inactive", "deprecated"])
def test_a_connection_that_is_disabled_buries_the_job_and_says_so(app, outside, connection, run, status):
    handle = run(connection(status))

    row = handle.job()
    assert (row.state, row.reason, row.error_code) == (State.DEAD, "permanent", "airbyte_refused")
    assert status in row.error_message
    assert (outside.books.count(path=JOBS, method="POST"), outside.airbyte.jobs()) == (1, [])
    assert app.operations(Principal.admin("root")).jobs.why(handle.id).code == "dead"


def test_a_locked_connection_is_tried_again_within_the_budget(outside, connection, run):
    handle = run(connection("locked"))

    assert (handle.job().state, handle.job().reason) == (State.DEAD, "attempts_exhausted")
    assert outside.books.count(path=JOBS, method="POST") == 3


def test_a_token_that_nobody_here_can_renew_closes_the_source_when_it_is_refused(bench, app, source, outside):
    bench.use(app)
    outside.airbyte.script(revoke="token-of-somebody")
    airbyte = Airbyte.with_token(source.http, "token-of-somebody", f"{outside.url}/airbyte/v1")

    with pytest.raises(AuthFailed):
        airbyte.connection("00000000-0000-4000-8000-000000000000")

    assert source.row().closing.gate == "credential"

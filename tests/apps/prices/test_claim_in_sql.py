"""The claim of the document as a function of the database: what the engine's does, for workers in any language."""

from __future__ import annotations

import random
import threading
from contextlib import closing

import psycopg
import pytest

from haulwright import Haulwright
from haulwright.apps.prices import Prices
from haulwright.apps.prices.compat import ScrapeWorker
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.job import LeaseKey
from haulwright.engine.source import gate_name
from haulwright.engine.transitions import State
from haulwright.stores.sources.admission import Denial, Requester
from haulwright.stores.sources.waiters import permit_wait_us
from tests.apps.prices.scenes import TENANT, WHO

pytestmark = pytest.mark.parametrize(
    "made_database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)
CLAIM = "select * from haulwright_f_claim_next_pending_job(%s, %s)"
KEY = f"price-coinhall@{TENANT}"
STANDING = """
    select enabled, breaker, breaker_since, met_until, turns_until, granted, tickets, held, spent, spent_day, probe_id,
           probe_fence, probe_worker, probe_until, asked_at
    from haulwright_sources where key = %s"""


@pytest.fixture
def made_database_url(request):
    return request.getfixturevalue(f"made_{request.param}_url")


@pytest.fixture
def sql(made_database_url):
    """A connection of a worker that knows nothing of us."""
    with psycopg.connect(made_database_url, autocommit=True, row_factory=psycopg.rows.dict_row) as connection:
        yield connection


@pytest.fixture
def claim(sql, world):
    """Claim as a worker that calls the function, by the clock of the test."""
    return lambda worker="rpc-1": sql.execute(CLAIM, (worker, world.bench.clock.now())).fetchone()


@pytest.fixture
def job_id(world):
    world.source()
    return collect(world)


def collect(world, tenant=TENANT, **said):
    intake = world.intake(tenant=tenant)
    (made,) = world.prices.collect(WHO if tenant == TENANT else type(WHO).of_tenant(tenant), intake.intake_id, **said)
    return made.id


def job(world, job_id):
    return world.bench.store.listing.get(job_id)


@pytest.mark.proves("CLM-03", "CLM-01")
def test_a_claim_in_sql_is_one_of_the_engine(world, claim, job_id):
    row = claim()

    held = job(world, job_id)
    assert (str(row["id"]), row["status"], row["attempts"], row["locked_by"]) == (job_id, "running", 1, "rpc-1")
    assert (row["source_id"], row["query_params"], row["fence"]) == (KEY, {}, 1)
    assert (held.state, held.fence, held.attempts, held.worker_id) == (State.RUNNING, 1, 1, str(row["holder"]))
    assert held.lease_expires_at == world.bench.clock.now() + 300 * SECOND
    (began,) = world.bench.store.events.latest(name="job.started")
    assert (began.job_id, began.fence, began.worker, began.data["worker"]) == (job_id, 1, "rpc-1", "rpc-1")
    assert began.data["source_id"] == KEY
    assert claim("rpc-2") is None


def test_under_the_name_of_the_document_and_by_the_clock_of_the_server(sql, job_id):
    row = sql.execute("select id::text, locked_at = now() as is_now from claim_next_pending_job('rpc-1')").fetchone()

    assert row == {"id": job_id, "is_now": True}


def test_it_is_ended_under_its_fence_by_the_functions_of_the_document(world, claim, job_id):
    words = ScrapeWorker(world.prices, "helper")
    row = claim()

    assert not words.adopt_claim({**row, "fence": 2})
    assert not words.adopt_claim({**row, "holder": new_id()})
    assert words.adopt_claim(row)
    assert words.heartbeat(job_id)
    assert words.mark_succeeded(job_id)
    assert not words.adopt_claim(row)

    assert world.prices.get_job(WHO, job_id)["status"] == "succeeded"
    (ended,) = world.bench.store.events.latest(name="job.completed")
    assert ended.worker == str(row["holder"])


@pytest.mark.proves("HB-03")
def test_what_its_worker_leaves_is_taken_back_and_its_end_comes_too_late(world, claim, job_id):
    words = ScrapeWorker(world.prices, "helper")
    assert words.adopt_claim(claim())
    world.bench.advance("301 s")

    assert words.reclaim_stuck_jobs() == 1
    again = claim("rpc-2")

    assert (str(again["id"]), again["fence"], again["attempts"]) == (job_id, 2, 2)
    assert not words.mark_succeeded(job_id)
    (lost,) = world.bench.store.events.latest(name="job.lease_expired")
    assert lost.data["held_by_name"] == "rpc-1"


@pytest.mark.proves("RL-04")
def test_a_job_whose_gate_is_closed_is_not_given_out_and_waits_for_it(world, claim, job_id):
    world.bench.store.sources.pause(KEY, actor="ops", reason="they asked", seconds=60)

    assert claim() is None

    waiting = job(world, job_id)
    assert (waiting.state, waiting.attempts, waiting.deferrals, waiting.fence) == (State.QUEUED, 0, 1, 0)
    assert (waiting.waiting_on, waiting.run_at) == (gate_name(KEY, "paused"), world.bench.clock.now() + 60 * SECOND)
    (event,) = world.bench.store.events.latest(name="job.snoozed")
    assert event.data == {"job_id": job_id, "delay_seconds": 60, "gate": gate_name(KEY, "paused")}
    world.bench.store.sources.resume(KEY, actor="ops")
    assert str(claim()["id"]) == job_id


def test_its_permit_keeps_others_out_until_it_is_ended(world, claim):
    words = ScrapeWorker(world.prices, "helper")
    world.source(concurrency=1)
    jobs = [collect(world) for _ in range(2)]
    first = claim()

    assert claim("rpc-2") is None
    assert job(world, jobs[1]).waiting_on == gate_name(KEY, "permits")
    assert words.adopt_claim(first)
    assert words.mark_succeeded(jobs[0])

    assert str(claim("rpc-2")["id"]) == jobs[1]


def test_a_job_behind_closed_gates_of_its_tenant_is_found(world, claim):
    world.source()
    for _ in range(5):
        collect(world)
    world.source("muenzkontor")
    world.bench.store.sources.pause(KEY, actor="ops", reason="they asked")
    open_job = collect(world, sources=["muenzkontor"])

    assert str(claim()["id"]) == open_job


@pytest.mark.proves("FR-01")
def test_tenants_take_turns(world, claim):
    for tenant in ("a", "b", "c"):
        world.source(tenant=tenant)
        for _ in range(3):
            collect(world, tenant)

    assert [claim()["tenant"] for _ in range(9)] == ["a", "b", "c"] * 3
    assert claim() is None


def test_nothing_comes_from_a_paused_queue_and_nothing_of_another_kind(world, claim, job_id):
    @world.app.task(name="other", queue="prices", priority=10)
    def other() -> None: ...

    other.using(tenant=TENANT).enqueue()
    world.bench.store.queues.pause("prices", actor="ops", reason="upkeep")
    assert claim() is None
    world.bench.store.queues.resume("prices", actor="ops")

    assert str(claim()["id"]) == job_id
    assert claim() is None


def test_a_worker_without_a_name_is_refused(claim):
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="worker_id is empty"):
        claim(" ")


@pytest.mark.proves("CLM-01")
def test_of_many_callers_at_once_each_job_goes_to_one(world, made_database_url, claim):
    world.source()
    jobs = {collect(world) for _ in range(24)}
    now, taken = world.bench.clock.now(), []

    def work(name):
        with psycopg.connect(made_database_url, autocommit=True) as connection:
            while row := connection.execute(CLAIM, (name, now)).fetchone():
                taken.append(str(row[0]))

    threads = [threading.Thread(target=work, args=(f"rpc-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    while row := claim():  # who met only locked rows went home
        taken.append(str(row["id"]))

    assert len(taken) == len(jobs)
    assert set(taken) == jobs


def test_an_engine_worker_and_a_caller_of_the_function_share_the_work(world, claim, database_url):
    world.source()
    jobs = {collect(world) for _ in range(4)}
    with closing(Haulwright(database_url, clock=world.bench.clock)) as app:
        words = ScrapeWorker(Prices(app), "engine")
        taken = [str(claim()["id"]), words.claim_next_pending_job()["id"]]
        taken += [words.claim_next_pending_job()["id"], str(claim()["id"])]

    assert set(taken) == jobs


def test_its_gate_answers_as_that_of_the_engine_however_a_source_stands(world, sql):
    """Two sources in one state: one is asked by the engine, without patience, the other by the function."""
    store, now, rng = world.bench.store, world.bench.clock.now(), random.Random(16)  # noqa: S311 - a seed that tells the same each time
    seen = set()
    for _ in range(400):
        state = some_state(rng, now)
        for key in ("engine", "function"):
            put(sql, key, state)
        deferrals = rng.choice([0, 0, 1, 7])
        asker = LeaseKey(new_id(), 1, new_id())
        answer = store.gates.ask("engine", Requester(asker, deferrals > 0), lease_seconds=60, patience=0)
        params = ("function", *asker, deferrals, now)
        ours = sql.execute("select * from haulwright_prices_pass(%s, %s, %s, %s, %s, %s)", params).fetchone()

        gate = answer.gate if isinstance(answer, Denial) else None
        assert ours["gate"] == gate, state
        if isinstance(answer, Denial):
            assert ours["wait_us"] == (permit_wait_us(deferrals) if gate == "permits" else answer.wait_us), state
        rows = [sql.execute(STANDING, (key,)).fetchone() for key in ("engine", "function")]
        assert rows[0] == rows[1], state
        seen.add(gate)

    assert seen >= {None, "disabled", "credential", "paused", "parked", "breaker", "budget", "rate", "permits"}


def some_state(rng, now):
    """A source as it may stand."""
    near = lambda: rng.choice([0, 0, 0, now - 10 * SECOND, now + rng.randrange(1, 90) * SECOND])  # noqa: E731
    return {
        "enabled": rng.random() > 0.05,
        "interval_us": rng.choice([0, SECOND, 20 * SECOND]),
        "burst": rng.choice([1, 1, 5]),
        "concurrency": rng.choice([None, 1, 2]),
        "budget": rng.choice([None, None, 3]),
        "breaker": rng.choice(["closed"] * 6 + ["open", "half_open", "refused"]),
        "met_until": near(),
        "turns_until": near(),
        "held": rng.choice([0, 0, 1, 2]),
        "spent": rng.choice([0, 2, 3]),
        "spent_day": now // (86_400 * SECOND) - rng.choice([0, 1]),
        "paused_until": near() if rng.random() < 0.3 else 0,
        "parked_until": near() if rng.random() < 0.3 else 0,
        "open_until": near(),
        "probe_until": near(),
    }


def put(sql, key, state):
    """A source in a state, and nobody under way."""
    sql.execute("delete from haulwright_source_permits where source = %s", (key,))
    sql.execute("delete from haulwright_sources where key = %s", (key,))
    known = {"key": key, "declared": "{}", "cool_down_us": 1, "created_at": 0, "updated_at": 0, **state}
    names = ", ".join(known)
    marks = ", ".join(["%s"] * len(known))
    sql.execute(f"insert into haulwright_sources ({names}) values ({marks})", list(known.values()))  # noqa: S608 - above

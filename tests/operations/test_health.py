"""Health: what is well and what is not, on a database that may be missing or behind, and nothing is changed by it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from haulwright import Haulwright, events
from haulwright.clock import SECOND, host_now
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import UNKNOWN_TASK_GATE
from haulwright.engine.settlement import PutBack, Settlement
from haulwright.errors import Forbidden, Refused
from haulwright.operations import health
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.operations.fleet import ACME, ADMIN, SUPPORT, SYSTEM, app, worker
from tests.stores.scenes import claim, new_job


@pytest.fixture
def on_the_bench(bench):
    bench.use(app)
    return bench


@pytest.fixture
def empty(empty_database_url):
    """An app on a database without any schema of ours."""
    with closing(Haulwright(empty_database_url)) as empty:
        yield empty


def levels(findings):
    return {finding.check: finding.level for finding in findings}


@pytest.mark.usefixtures("on_the_bench")
@pytest.mark.parametrize("principal", [ADMIN, SYSTEM])
def test_an_installation_that_works_has_no_problem(principal):
    app.store.workers.register(worker(), ["default"], [])

    found = levels(app.operations(principal).health.examine(Settings.load()))

    assert "problem" not in found.values()
    assert {"python", "database", "schema", "clock", "workers", "leases"} <= set(found)


@pytest.mark.usefixtures("on_the_bench")
def test_due_jobs_without_a_worker_and_leases_that_ran_out_are_problems(on_the_bench):
    app.store.jobs.enqueue([new_job(), new_job()])
    claim(app.store, worker().id)
    on_the_bench.clock.advance(600)

    findings = app.operations(ADMIN).health.examine(Settings.load())

    assert (levels(findings)["queue"], levels(findings)["leases"]) == ("problem", "problem")


@pytest.mark.usefixtures("on_the_bench")
def test_jobs_whose_task_the_worker_at_work_does_not_know_are_named():
    app.store.jobs.enqueue([new_job(task="prices.gone"), new_job(task="prices.gone")])
    app.store.workers.register(worker(), ["default"], [])
    given_back = PutBack("snooze", 30 * SECOND, refund=1, deferral=1, waiting_on=UNKNOWN_TASK_GATE)
    leases = claim(app.store, worker().id, 2)
    app.store.settlements.settle([Settlement(lease, given_back) for lease in leases], "w1")

    findings = app.operations(ADMIN).health.examine(Settings.load())

    (found,) = [finding for finding in findings if finding.check == "tasks"]
    assert (found.level, found.sentence) == ("warn", "2 jobs wait for a worker that knows their task: prices.gone")


@pytest.mark.usefixtures("on_the_bench")
def test_an_app_that_cannot_be_used_keeps_nobody_from_looking_at_the_rest():
    findings = app.operations(ADMIN).health.examine(Settings.load(), app_error=Refused("It cannot be imported."))

    assert (levels(findings)["app"], levels(findings)["schema"]) == ("problem", "ok")


def test_a_database_without_our_schema_is_found_so_and_left_so(empty, empty_database_url):
    examined = levels(empty.operations(ADMIN).health.examine(Settings.load()))
    verified = levels(empty.operations(ADMIN).health.verify(stuck_effect_seconds=60))

    if empty_database_url.startswith("sqlite"):
        assert (examined["database"], verified) == ("warn", {"schema": "warn"})
        assert list(_files_of(empty_database_url)) == []
    else:
        assert (examined["schema"], verified) == ("problem", {"schema": "problem"})
        with closing(open_database(empty_database_url)) as database:
            assert migrations.status(database).applied == 0


def test_a_refusal_on_a_database_that_is_not_there_makes_none(empty, empty_database_url):
    with pytest.raises(Forbidden):
        empty.operations(ACME).health.verify(stuck_effect_seconds=60)

    with empty.existing_store() as store:
        assert store is None or migrations.status(store.database).applied == 0
    if empty_database_url.startswith("sqlite"):
        assert list(_files_of(empty_database_url)) == []


@pytest.mark.usefixtures("on_the_bench")
@pytest.mark.parametrize("principal", [ACME, SUPPORT])
def test_how_the_installation_stands_is_no_business_of_tenants_and_support(principal):
    with pytest.raises(Forbidden):
        app.operations(principal).health.examine(Settings.load())

    (refusal,) = app.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.actor, refusal.data["verb"]) == (principal.actor, "health.read")


@pytest.mark.usefixtures("on_the_bench")
def test_a_sound_database_is_found_sound_and_a_permit_of_nobody_is_a_problem():
    health = app.operations(ADMIN).health
    assert set(levels(health.verify(stuck_effect_seconds=60)).values()) == {"ok"}

    job = new_job()
    app.store.jobs.enqueue([job])
    values = f"('k', 1, '{job.id}', 1, '{new_id()}', 0)"
    write = f"insert into haulwright_permits (key, number, job_id, fence, worker_id, taken_at) values {values}"  # noqa: S608 - our own
    app.store.database.transact(lambda connection: connection.execute(write))

    assert levels(health.verify(stuck_effect_seconds=60))["permits"] == "problem"


@pytest.mark.usefixtures("on_the_bench")
def test_a_transaction_that_is_open_for_more_than_a_minute_is_told_and_whether_followers_wait(bench, database_url):
    health = app.operations(ADMIN).health
    if database_url.startswith("sqlite"):
        assert "transactions" not in levels(health.examine(Settings.load()))
        return
    with psycopg.connect(database_url, application_name="etl") as idle, psycopg.connect(database_url) as writing:
        idle.execute("select 1")
        writing.execute("insert into haulwright_events (at, tenant, name) values (0, 'acme', 'x')")
        bench.clock.set(host_now() + 10 * SECOND)
        assert not any("of etl" in finding.sentence for finding in health.examine(Settings.load()))
        bench.clock.set(host_now() + 61 * SECOND)
        told = [finding for finding in health.examine(Settings.load()) if finding.check == "transactions"]
        ours = (f"process {idle.info.backend_pid} of etl has", f"process {writing.info.backend_pid} ")
        writing.rollback()
        idle.rollback()

    # Others use the same server beside this test, and a minute has passed for their transactions as well.
    findings = [finding for finding in told if any(words in finding.sentence for words in ours)]
    assert [finding.level for finding in findings] == ["warn", "warn"]
    assert ours[0] in findings[0].sentence
    assert ["whoever follows events waits" in finding.sentence for finding in findings] == [False, True]


@pytest.mark.usefixtures("on_the_bench")
def test_a_forgotten_prepared_transaction_is_told(bench, database_url):
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite prepares no transactions")
    gid = new_id()
    with psycopg.connect(database_url, autocommit=True) as connection:
        if connection.execute("select current_setting('max_prepared_transactions')::int").fetchone() == (0,):
            pytest.skip("this server prepares no transactions")
        connection.execute("begin; insert into haulwright_events (at, tenant, name) values (0, 'acme', 'x')")
        connection.execute(f"prepare transaction '{gid}'")
        bench.clock.set(host_now() + 61 * SECOND)
        findings = app.operations(ADMIN).health.examine(Settings.load())
        connection.execute(f"rollback prepared '{gid}'")

    (sentence,) = [finding.sentence for finding in findings if gid in finding.sentence]
    assert "whoever follows events waits" in sentence


def test_the_schema_is_told_and_migrated_and_told_again(empty):
    schema = empty.operations(ADMIN).schema
    (before,) = schema.status()
    run = schema.migrate()
    (after,) = schema.status()

    assert (before.schema, before.applied, before.current) == ("engine", 0, False)
    assert (run.version, len(run.applied)) == (after.applied, after.known)
    assert after.current
    assert schema.migrate().applied == []


@pytest.mark.parametrize("principal", [ACME, SUPPORT, SYSTEM])
def test_who_is_no_admin_migrates_nothing(empty, principal):
    with pytest.raises(Forbidden):
        empty.operations(principal).schema.migrate()

    assert not any(chain.applied for chain in empty.operations(ADMIN).schema.status())


def test_the_script_of_a_schema_needs_no_database(empty, empty_database_url):
    script = empty.operations(ADMIN).schema.script("postgres")

    assert "create table haulwright_jobs" in script
    if empty_database_url.startswith("sqlite"):
        assert list(_files_of(empty_database_url)) == []


def _files_of(database_url):
    path = Path(database_url.removeprefix("sqlite:///"))
    return path.parent.glob(f"{path.name}*")


@pytest.mark.usefixtures("on_the_bench")
def test_so_many_queues_are_looked_at_and_it_is_said_that_there_are_more(monkeypatch):
    monkeypatch.setattr(health, "SHOWN_QUEUES", 2)
    app.store.jobs.enqueue([new_job(queue=name) for name in ("a", "b", "c")])

    queues = [finding for finding in app.operations(ADMIN).health.examine(Settings.load()) if finding.check == "queue"]

    assert len(queues) == 3
    assert "more queues" in str(queues[-1])

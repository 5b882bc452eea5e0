"""Document 002, lines 1 to 78, 105 to 137, each executed or compared: jobs, dispatcher, runner, results, isolation."""

from __future__ import annotations

import asyncio
import inspect
import re
import sqlite3
import uuid
from contextlib import closing
from datetime import datetime
from types import SimpleNamespace

import psycopg
import pytest

from haulwright.apps.syncs.compat import IngestionJob, JobDispatcher, run_worker_cycle
from haulwright.apps.syncs.errors import ActiveJobExists
from haulwright.errors import HaulwrightError
from tests.apps.syncs.scenes import opened, words

line = pytest.mark.line
JOBS = "/airbyte/v1/jobs"
DATABASE_ERRORS = (sqlite3.Error, psycopg.Error)


@pytest.fixture
def failed(world):
    """A sync whose first run failed: it waits for its retry."""
    world.connect(external_account_id="shop-456")
    world.sandbox.airbyte.script(ending="failed")
    world.dispatch(correlation_id="req-789")
    world.go("20 s", times=3)
    return world


@line("9-21", "a trigger by the clock dispatches a job into the database, and a runner calls Airbyte for it")
def test_the_chain_from_the_clock_to_airbyte(world):
    world.connect()

    world.bench.advance("5 min")
    world.bench.drain(limit=1)
    assert words(world) == "queued"
    world.bench.drain()

    assert world.sandbox.books.count(path=JOBS, method="POST") == 1


@pytest.mark.parametrize(
    ("column", "holds"),
    [
        pytest.param("job_id", lambda value: uuid.UUID(str(value)), marks=line("32", "job_id is a UUID")),
        pytest.param("tenant_id", lambda value: value == "acme", marks=line("33", "tenant_id is a text")),
        pytest.param("connector_id", lambda value: value == "shop", marks=line("34", "connector_id is a text")),
        pytest.param(
            "external_account_id", lambda value: value == "shop-456", marks=line("35", "external_account_id is a text")
        ),
        pytest.param("retry_count", lambda value: value == 1, marks=line("37", "retry_count counts the retries")),
        pytest.param("run_id", str.isdigit, marks=line("38", "run_id is the text of Airbyte's run")),
        pytest.param(
            "correlation_id", lambda value: value == "req-789", marks=line("39", "correlation_id follows the job")
        ),
        pytest.param(
            "error_message", lambda value: "failed" in value, marks=line("40", "error_message is the last one")
        ),
        pytest.param("error_code", lambda value: value == "sync_failed", marks=line("41", "error_code classifies it")),
        pytest.param(
            "next_retry_at",
            lambda value: datetime.fromisoformat(str(value)),
            marks=line("42", "next_retry_at is when it is tried again"),
        ),
    ],
)
@pytest.mark.proves("JOB-18")
def test_the_view_has_the_column(failed, column, holds):
    assert holds(failed.rows(f"select {column} from ingestion_jobs")[0][0])  # noqa: S608 - as written above


@line("28-42", "the model IngestionJob has these eleven fields")
def test_the_model_has_every_field():
    names = (
        "job_id tenant_id connector_id external_account_id status retry_count run_id correlation_id error_message "
        "error_code next_retry_at"
    )

    assert set(names.split()) <= set(IngestionJob.__dataclass_fields__)


@line("32", "job_id is the primary key: no two jobs share one")
def test_the_id_of_a_job_is_its_primary_key(world, bench):
    keys = {
        "sqlite": "select group_concat(name) from pragma_table_info('haulwright_jobs') where pk",
        "postgres": "select string_agg(attname, ',') from pg_index join pg_attribute on attrelid = indrelid and "
        "attnum = any(indkey) where indisprimary and indrelid = 'haulwright_jobs'::regclass",
    }

    assert world.rows(keys[bench.store.database.dialect]) == [("id",)]


@line("36", "status is queued, running, failed, dead_letter or success")
def test_status_goes_through_the_documents_five_words(world):
    world.connect(name="good")
    world.sandbox.airbyte.script(connection="acme good", ending="failed")
    world.dispatch("good")
    seen = [words(world)]
    for _ in range(12):
        world.go("20 s")
        seen.append(words(world))
    world.connect(name="bad", status="inactive")
    world.finish(world.dispatch("bad"))

    assert list(dict.fromkeys(seen)) == ["queued", "running", "failed", "success"]
    assert world.rows("select status from ingestion_jobs where connector_id = 'bad'") == [("dead_letter",)]


@line(
    "49-51",
    "the session of an ORM opens a dispatcher of a tenant",
    differs="an app, or the driver's connection with app=, does",
    page="applications/syncs.md#from-code",
)
def test_a_session_of_an_orm_opens_a_dispatcher(world, app, database_url):
    world.connect("acme", "conn-123")
    with closing(opened(database_url)) as driver:
        pooled = SimpleNamespace(dbapi_connection=driver)
        session = SimpleNamespace(connection=lambda: SimpleNamespace(connection=pooled))  # as SQLAlchemy's Session is
        try:
            job = JobDispatcher(session, "acme", app=app).dispatch("conn-123")
        except HaulwrightError as refused:
            pytest.fail(str(refused))
    assert job.status == "queued"


@line("51", "a dispatcher is made of a session and a tenant")
@line("53-58", "dispatch takes connector_id, external_account_id and correlation_id and creates a job")
@line("60-61", "get_queued_jobs lists what is queued")
def test_the_code_of_the_dispatcher(world, database_url, app):
    world.connect("acme", "conn-123", external_account_id="shop-456")
    with closing(opened(database_url)) as db_session:
        dispatcher = JobDispatcher(db_session, "acme", app=app)

        job = dispatcher.dispatch(
            connector_id="conn-123",
            external_account_id="shop-456",
            correlation_id="req-789",
        )
        db_session.commit()
        queued = dispatcher.get_queued_jobs()

    assert [(one.job_id, one.correlation_id) for one in queued] == [(job.job_id, "req-789")]


@line(
    "63-64",
    "requeue_from_dlq takes the id of a job",
    differs="support names itself as principal=, for a tenant's dispatcher may not requeue",
    page="applications/syncs.md#from-code",
)
def test_a_requeue_as_the_document_writes_it(world, app):
    world.connect(status="inactive")
    dispatcher = JobDispatcher(app, "acme")
    letter = dispatcher.dispatch("shop").job_id
    world.finish(letter)

    try:
        requeued = dispatcher.requeue_from_dlq(job_id=letter)
    except HaulwrightError as refused:
        pytest.fail(str(refused))
    assert requeued.status == "queued"


@line("71-76", "run_worker_cycle is awaited with a session and returns queued_processed and retry_processed")
def test_the_code_of_the_runner(world, app, database_url):
    for name in ("new", "again"):
        world.connect(name=name)
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=500)
    world.dispatch("again")
    world.bench.drain()
    world.bench.advance("80 s")
    world.dispatch("new")

    with closing(opened(database_url)) as db_session:
        assert inspect.iscoroutinefunction(run_worker_cycle)
        result = asyncio.run(run_worker_cycle(db_session, app=app))

    assert result == {"queued_processed": 1, "retry_processed": 1}


@line("105", "the client extracts the result of a sync")
def test_the_result_of_a_sync_is_read(world):
    world.connect()
    world.sandbox.airbyte.script(rows=1234, duration_seconds=90)
    world.finish(world.dispatch())

    assert world.rows("select records_synced, duration_seconds from ingestion_jobs") == [(1234, 90)]


@line("109-121", "queued, running, success; running, failed, and from there queued again or dead_letter")
def test_the_life_of_a_sync(failed):
    assert words(failed) == "failed"
    failed.sandbox.airbyte.script(duration_seconds=30)
    failed.bench.advance("80 s")
    failed.bench.drain()
    assert words(failed) == "running"
    failed.go("1 min", times=2)
    assert words(failed) == "success"


@line("125", "one active job for a tenant and a connector")
@line("130", "dispatch looks before it writes, and says which job is active")
def test_one_active_job_for_a_tenant_and_a_connector(world, app):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
    first = JobDispatcher(app, "acme").dispatch("shop")

    with pytest.raises(ActiveJobExists, match=re.escape(first.job_id)):
        JobDispatcher(app, "acme").dispatch("shop")
    JobDispatcher(app, "globex").dispatch("shop")

    assert len(world.rows("select 1 from ingestion_jobs where status in ('queued', 'running')")) == 2


@line("129", "the database itself allows one active job, by a partial unique index")
def test_the_database_refuses_a_second_active_job(world):
    world.connect()
    assert world.job(world.dispatch()).unique_key
    indexes = {
        "sqlite": "select sql from sqlite_master where name = 'haulwright_jobs_unique'",
        "postgres": "select indexdef from pg_indexes where indexname = 'haulwright_jobs_unique' "
        "and schemaname = current_schema()",
    }

    ((definition,),) = world.rows(indexes[world.bench.store.database.dialect])

    assert re.search(r"(?is)unique index.*where", definition)


@line(
    "133-137",
    "the statement that creates the index ix_ingestion_jobs_active_unique on ingestion_jobs runs",
    differs="ingestion_jobs is a view, which has no index; that of the engine's unique keys stands for it",
    page="applications/syncs.md#how-it-works",
)
def test_the_statement_of_the_index(database_url):
    statement = (
        "CREATE UNIQUE INDEX ix_ingestion_jobs_active_unique ON ingestion_jobs(tenant_id, connector_id) "
        "WHERE status IN ('queued', 'running')"
    )
    with closing(opened(database_url)) as connection:
        try:
            connection.execute(statement)
        except DATABASE_ERRORS as refused:
            pytest.fail(str(refused))

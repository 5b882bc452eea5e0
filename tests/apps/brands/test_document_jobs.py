"""Document 000, jobs (lines 31 to 182, 589): their states, their table and how they are asked for."""

from __future__ import annotations

import inspect
import json
import logging
import sqlite3
import uuid
from contextlib import closing

import psycopg
import pytest

from haulwright.apps.brands import compat
from haulwright.apps.brands.compat import BrandBrain
from haulwright.engine.ids import new_id
from haulwright.errors import HaulwrightError
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.testing.harness import START
from tests.apps.brands.scenes import ACME, PACKAGE, moment, row, rows

line = pytest.mark.line


@line("36-46", "BrandBrainJobStatus names pending, running, succeeded and failed")
def test_the_class_of_states():
    statuses = compat.BrandBrainJobStatus

    assert (statuses.PENDING, statuses.RUNNING, statuses.SUCCEEDED, statuses.FAILED) == (
        "pending", "running", "succeeded", "failed",
    )  # fmt: skip


@line("40", "a job goes from pending through running to succeeded or failed")
@line("71-76", "these four are all there are")
def test_the_four_states():
    assert set(compat.STATUSES) == {"pending", "running", "succeeded", "failed"}


@line("49", "BrandBrainJob is a Django model", missing="Django")
def test_the_model_of_django():
    import haulwright.integrations.django  # noqa: F401, PLC0415 - where it would be


@pytest.mark.parametrize(
    ("column", "holds"),
    [
        pytest.param("id", lambda value: uuid.UUID(str(value)), marks=line("78", "id is a UUID")),
        pytest.param("brand_id", bool, marks=line("79-83", "a job has its brand")),
        pytest.param("compile_run_id", bool, marks=line("84-90", "a job has its compile run")),
        pytest.param(
            "job_type", lambda value: value == "compile", marks=line("67-69", "the only type of job is compile")
        ),
        pytest.param("job_type", lambda value: value == "compile", marks=line("91", "job_type is compile by default")),
        pytest.param("status", lambda value: value == "pending", marks=line("92-97", "status is pending at first")),
        pytest.param("attempts", lambda value: value == 0, marks=line("100", "attempts are 0 at first")),
        pytest.param("max_attempts", lambda value: value == 3, marks=line("101", "max_attempts is 3")),
        pytest.param("last_error", lambda value: value is None, marks=line("102", "last_error is null at first")),
        pytest.param("locked_at", lambda value: value is None, marks=line("105", "locked_at is null at first")),
        pytest.param("locked_by", lambda value: value is None, marks=line("106", "locked_by is null at first")),
        pytest.param(
            "available_at", lambda value: moment(value) == START, marks=line("109", "available_at is now at first")
        ),
        pytest.param("created_at", lambda value: moment(value) == START, marks=line("115", "created_at is set")),
        pytest.param("updated_at", lambda value: moment(value) == START, marks=line("116", "updated_at is set")),
        pytest.param("finished_at", lambda value: value is None, marks=line("117", "finished_at is null at first")),
    ],
)
@pytest.mark.usefixtures("made")
def test_the_view_has_the_column(brands, column, holds):
    assert holds(row(brands, column))


@line("79-83", "a job goes with its brand")
@pytest.mark.usefixtures("made")
def test_a_job_goes_with_its_brand(brands, brand, settle):
    brands.remove(ACME, brand.id)
    settle()

    assert rows(brands, "select id from brandbrain_job") == []


@line("84-90", "a job may be without a compile run")
def test_a_job_without_a_compile_run(words, brand):
    try:
        words.enqueue_compile_job(brand.id, None)
    except HaulwrightError as refused:
        pytest.fail(str(refused))


@line("112", "params_json has force_refresh, prompt_version and model")
@line("165-169", "enqueue stores them so")
def test_the_parameters_of_a_job(words, brands, brand):
    words.enqueue_compile_job(brand.id, new_id(), force_refresh=True, prompt_version="v1", model="gpt-4")
    params = row(brands, "params_json")

    assert (params if isinstance(params, dict) else json.loads(params)) == {
        "force_refresh": True,
        "prompt_version": "v1",
        "model": "gpt-4",
    }


@line("121", "the table is called brandbrain_job")
def test_the_table_has_its_name(brands):
    assert rows(brands, "select count(*) from brandbrain_job") == [(0,)]


@line("121", "it is made beside a table of that name that the team has")
def test_a_database_that_has_the_table_is_migrated(tmp_path, postgres_url):
    for url, connect_to in ((f"sqlite:///{tmp_path}/theirs.db", sqlite3.connect), (postgres_url, psycopg.connect)):
        with closing(connect_to(url.removeprefix("sqlite:///"))) as connection:
            connection.execute("create table brandbrain_job (id text)")
            connection.commit()
        try:
            with closing(open_database(url)) as database:
                migrations.migrate(database)
                migrations.migrate(database, PACKAGE)
        except (HaulwrightError, sqlite3.Error, psycopg.Error) as refused:
            pytest.fail(str(refused))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "idx_job_status_available",
            marks=line(
                "122-127",
                "an index serves the next available job, by status and available_at",
                differs="a view has none; the engine's own index of due jobs serves it",
                page="decisions/0004-a-claim-is-a-walk-and-an-update.md",
            ),
        ),
        pytest.param(
            "idx_job_brand_created",
            marks=line(
                "128-132",
                "an index serves the history of a brand",
                differs="a view has none; compile runs have one by brand",
                page="explanation/differences.md#brands",
            ),
        ),
    ],
)
def test_the_table_has_the_index(brands, name):
    listed = {
        "sqlite": "select name from sqlite_master where type = 'index'",
        "postgres": "select indexname from pg_indexes",
    }

    assert name in {index for (index,) in rows(brands, listed[brands.app.store.database.dialect])}


@line("145-151", "enqueue_compile_job takes brand, compile run and three options by keyword")
def test_the_signature_of_enqueue():
    parameters = inspect.signature(BrandBrain.enqueue_compile_job).parameters

    assert {name: parameters[name].default for name in ("force_refresh", "prompt_version")} == {
        "force_refresh": False,
        "prompt_version": "v1",
    }
    assert parameters["model"].kind is inspect.Parameter.KEYWORD_ONLY


@line("151", "the model is gpt-4 by default")
def test_the_default_of_the_model():
    assert inspect.signature(BrandBrain.enqueue_compile_job).parameters["model"].default == "gpt-4"


@line("152", "enqueue returns an EnqueueResult")
@line("156-164", "enqueue creates a pending job")
@line("179-182", "with job_id and compile_run_id")
@line("589", "a job that is created is pending")
def test_enqueue_creates_a_pending_job(words, brands, brand):
    run_id = new_id()
    result = words.enqueue_compile_job(brand.id, run_id)

    assert isinstance(result, compat.EnqueueResult)
    assert (str(row(brands, "id")), row(brands), result.compile_run_id) == (result.job_id, "pending", run_id)


@line("172-177", "enqueue logs job, brand and compile run")
def test_enqueue_is_logged(words, brand, caplog):
    with caplog.at_level(logging.INFO):
        result = words.enqueue_compile_job(brand.id, new_id())

    assert result.job_id in caplog.text

"""Views in the words of the documents, in databases where somebody else lives already."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from haulwright.discovery import installed_applications
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.view_names import declared_names

APPLICATIONS = ("brands", "brief", "documents", "prices", "syncs")


@pytest.fixture
def database_url(empty_database_url):
    """These tests make the tables themselves."""
    return empty_database_url


def names_of(application):
    return declared_names(migrations.chain_of(installed_applications().get(application).package, "sqlite"))


def connect(url):
    if url.startswith("sqlite"):
        return closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None))
    return psycopg.connect(url, autocommit=True)


def settle_before_us(url, *names):
    """Somebody else's tables, each with a row."""
    with connect(url) as connection:
        for name in names:
            connection.execute(f"create table {name} (id integer primary key, status text)")
            connection.execute(f"insert into {name} values (1, 'theirs')")  # noqa: S608 - names of a test


def rows_of(url, name):
    with connect(url) as connection:
        return connection.execute(f"select * from {name}").fetchall()  # noqa: S608 - names of a test


@pytest.fixture
def db(bare, database_url):
    return lambda *words: bare("db", *words, "--database", database_url)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_beside_tables_of_those_names_everything_is_made_and_theirs_are_left_alone(db, database_url, application):
    names = names_of(application)
    settle_before_us(database_url, *names)

    answer = db("migrate", application)

    assert answer.code == 0, answer.err
    for name in names:
        assert f"{name} is a table that is not ours, and was left alone: read haulwright_v_{name}" in answer.out
        assert rows_of(database_url, name) == [(1, "theirs")]
        assert rows_of(database_url, f"haulwright_v_{name}") is not None


@pytest.mark.parametrize("application", APPLICATIONS)
def test_in_a_database_of_our_own_the_queries_of_the_documents_run(db, database_url, application):
    assert db("migrate", application).code == 0

    for name in names_of(application):
        assert rows_of(database_url, name) == rows_of(database_url, f"haulwright_v_{name}")


def test_the_names_are_shown_with_who_has_them(db, database_url):
    settle_before_us(database_url, "artifact_jobs")
    db("migrate", "documents")

    views = {view["name"]: view for view in db("views", "--json").json["views"]}
    table = db("views").out

    assert views["artifact_jobs"] == {
        "application": "documents",
        "name": "artifact_jobs",
        "view": "haulwright_v_artifact_jobs",
        "state": "foreign",
        "kind": "table",
    }
    assert (views["artifact_ops"]["state"], views["_meta"]["state"]) == ("taken", "taken")
    assert "a table that is not ours" in table


def test_a_name_is_given_up_and_taken_again(db, database_url):
    db("migrate", "brief", "documents")

    dropped = db("views", "--drop", "job_runs", "--json").json["views"]
    settle_before_us(database_url, "job_runs")
    refused = db("views", "--take", "job_runs")
    with connect(database_url) as connection:
        connection.execute("drop table job_runs")
    taken = db("views", "--take", "--json").json["views"]

    assert [(view["name"], view["state"]) for view in dropped] == [("job_runs", "free")]
    assert (refused.code, "belongs to a table that is not ours" in refused.err) == (2, True)
    assert {view["state"] for view in taken} == {"taken"}
    assert {view["name"] for view in taken} == {*names_of("brief"), *names_of("documents")}


def test_a_name_that_was_given_up_stays_given_up(db):
    db("migrate", "brief")
    db("views", "--drop")
    db("migrate", "brief", "documents")

    states = {view["name"]: view["state"] for view in db("views", "--json").json["views"]}

    assert {states[name] for name in names_of("brief")} == {"free"}
    assert {states[name] for name in names_of("documents")} == {"taken"}


def test_a_view_that_somebody_wrote_over_ours_is_theirs(db, database_url):
    db("migrate", "brief")
    db("views", "--drop", "job_runs")
    with connect(database_url) as connection:
        connection.execute("create view job_runs as select id from haulwright_v_job_runs")

    assert db("views", "--drop", "job_runs").code == 2
    assert rows_of(database_url, "job_runs") == []


def test_a_name_that_no_document_has_is_refused_with_those_that_there_are(db):
    db("migrate", "brief")

    answer = db("views", "--take", "job_run")

    assert (answer.code, "job_runs" in answer.err) == (3, True)


def test_to_look_at_the_names_makes_no_database(bare, sqlite_url, tmp_path):
    answer = bare("db", "views", "--database", sqlite_url)

    assert (answer.code, (tmp_path / "haulwright.db").exists()) == (3, False)


def test_to_take_and_to_drop_at_once_is_refused(db):
    db("migrate", "brief")

    assert db("views", "--take", "--drop").code == 2


def test_several_that_migrate_at_once_take_every_name_once(db, database_url):
    package, start = installed_applications().get("prices").package, threading.Barrier(4)
    db("migrate")

    def migrate(_):
        with closing(open_database(database_url)) as database:
            start.wait()
            return migrations.migrate(database, package)

    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(migrate, range(4)))

    assert sorted(applied)[:3] == [0, 0, 0]
    assert {view["state"] for view in db("views", "--json").json["views"]} == {"taken"}


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_printed_schema_leaves_their_tables_alone_too(bare, database_url, application):
    theirs, *free = names_of(application)
    settle_before_us(database_url, theirs)
    script = bare("db", "migrate", application, "--sql", "--database", database_url).out
    with connect(database_url) as connection:
        getattr(connection, "executescript", connection.execute)(script)

    views = bare("db", "views", "--database", database_url, "--json").json["views"]

    assert rows_of(database_url, theirs) == [(1, "theirs")]
    states = {view["name"]: view["state"] for view in views}
    assert {name: states.pop(name) for name in (theirs, *free)} == {theirs: "foreign"} | dict.fromkeys(free, "taken")
    assert set(states.values()) <= {"taken"}


def test_a_table_further_along_the_search_path_is_not_hidden_by_a_view_of_ours(bare, postgres_server, postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        ((theirs,),) = connection.execute("select current_schema()").fetchall()
        ours = f"{theirs}_ours"
        connection.execute(f"create schema {ours}; create table job_runs (id integer)")
    url = postgres_server.url(search_path=f"{ours},{theirs}")
    try:
        bare("db", "migrate", "brief", "--database", url)
        states = {
            view["name"]: view["state"] for view in bare("db", "views", "--database", url, "--json").json["views"]
        }
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"drop schema {ours} cascade")

    assert (states["job_runs"], states["raw_articles"]) == ("foreign", "taken")


def test_a_view_that_others_read_is_not_dropped_under_them(bare, postgres_url):
    bare("db", "migrate", "brief", "--database", postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("create view late_runs as select id from job_runs")

    answer = bare("db", "views", "--drop", "--database", postgres_url)

    assert (answer.code, "Other views read job_runs" in answer.err) == (2, True)


def test_a_table_under_a_name_of_our_own_tables_is_said_and_nothing_is_changed(db, database_url):
    settle_before_us(database_url, "documents_files")

    answer = db("migrate", "documents")

    assert answer.code == 69
    assert "under a name of ours" in answer.err
    assert rows_of(database_url, "documents_files") == [(1, "theirs")]


CALL = "claim_next_pending_job"
only_postgres = pytest.mark.parametrize(
    "empty_database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


def functions(url):
    """The functions of the name that the document of prices gives its claim, by how many arguments they take."""
    with connect(url) as connection:
        select = (
            "select pronargs, prosrc from pg_proc where proname = %s and pronamespace = current_schema()::regnamespace"
        )
        return connection.execute(select, (CALL,)).fetchall()


@only_postgres
def test_a_function_of_a_document_has_its_name_where_that_is_free(db, database_url):
    db("migrate", "prices")
    views = {view["name"]: view for view in db("views", "--json").json["views"]}

    assert (views[CALL]["view"], views[CALL]["state"]) == (f"haulwright_f_{CALL}", "taken")
    assert rows_of(database_url, f"{CALL}('me')") == []
    db("views", "--drop", CALL)
    assert functions(database_url) == []
    db("migrate", "prices")
    assert functions(database_url) == []
    db("views", "--take", CALL)
    assert len(functions(database_url)) == 1


@only_postgres
def test_a_function_of_somebody_elses_is_left_alone(db, database_url):
    with connect(database_url) as connection:
        connection.execute(f"create function {CALL}() returns int language sql as 'select 7'")

    made = db("migrate", "prices")
    taken = db("views", "--take", CALL)
    db("views", "--drop")

    assert f"{CALL} is a function that is not ours, and was left alone: call haulwright_f_{CALL}" in made.out
    assert (taken.code, f"Call haulwright_f_{CALL} instead" in taken.err) == (2, True)
    assert functions(database_url) == [(0, "select 7")]


@only_postgres
@pytest.mark.usefixtures("database_url")
def test_a_name_that_a_later_version_brings_is_taken_with_it(db, monkeypatch):
    whole = migrations.chain_of
    monkeypatch.setattr(
        migrations, "chain_of", lambda *which: whole(*which)[:1] if "prices" in which[0] else whole(*which)
    )
    db("migrate", "prices")
    db("views", "--drop", "scrape_jobs")
    monkeypatch.undo()

    db("migrate", "prices")

    views = {view["name"]: view["state"] for view in db("views", "--json").json["views"]}
    assert (views[CALL], views["scrape_jobs"]) == ("taken", "free")

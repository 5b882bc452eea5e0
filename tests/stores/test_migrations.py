"""A schema is brought up to date by numbered files, each applied once, under a lock, and checked by its digest."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from haulwright.errors import SchemaMismatch
from haulwright.stores import migrations
from haulwright.stores.connect import open_database, prepare
from haulwright.stores.migrations import ENGINE, Migration
from haulwright.stores.store import Store
from tests.stores.scenes import claim_one, new_job, race, settle
from tests.support.binaries import wheel_binaries

SCHEMA = {
    "sqlite": "select type, name, tbl_name, sql from sqlite_master order by type, name",
    "postgres": """
        select 'column', table_name, column_name, data_type || is_nullable || coalesce(column_default, '')
        from information_schema.columns where table_schema = current_schema()
        union all select 'index', tablename, indexname, replace(indexdef, current_schema(), '')
        from pg_indexes where schemaname = current_schema()
        union all select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        from pg_constraint where connamespace = current_schema()::regnamespace
        union all select 'trigger', tgrelid::regclass::text, tgname, tgtype::text
        from pg_trigger where not tgisinternal and tgrelid::regclass::text like 'haulwright%'
        union all select 'function', proname, '', prosrc
        from pg_proc where pronamespace = current_schema()::regnamespace
        order by 1, 2, 3""",
}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, without any schema."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def database(database_url: str, clock) -> Iterator:
    with closing(open_database(database_url, clock=clock)) as database:
        yield database


def schema_of(database):
    return database.read(lambda connection: connection.execute(SCHEMA[database.dialect]))


def chain_with(monkeypatch, name, sql, *, dialect):
    """Pretend that the code has one more file."""
    known = migrations.chain_of(ENGINE, dialect)
    chain = (*known, Migration(len(known) + 1, name, sql))
    monkeypatch.setattr(migrations, "chain_of", lambda *_: chain)


@pytest.mark.proves("MG-01", "MG-03", "MG-05")
def test_migrations_are_applied_once_and_recorded(database):
    assert (migrations.status(database).applied, migrations.status(database).current) == (0, False)

    assert migrations.migrate(database) == migrations.status(database).known
    assert migrations.migrate(database) == 0

    assert migrations.status(database).current
    recorded = database.read(lambda c: c.execute("select chain, number, name, digest from haulwright_migrations"))
    chain = migrations.chain_of(ENGINE, database.dialect)
    assert recorded == [(ENGINE, one.number, one.name, one.digest) for one in chain]
    assert chain[0].name == "engine"


@pytest.mark.proves("MG-03")
def test_processes_that_migrate_at_once_migrate_once(database, database_url):
    """Each a process of its own, as after a deploy to several hosts."""
    code = (
        "import sys; from haulwright.stores.connect import open_database; from haulwright.stores import migrations;"
        "sys.stdin.read(); print(migrations.migrate(open_database(sys.argv[1])))"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", code, database_url], **pipes) for _ in range(4)]

    answers = race(*(process.communicate for process in started))

    assert [errors for _, errors in answers] == [""] * 4
    assert sorted(int(out) for out, _ in answers) == [0, 0, 0, migrations.status(database).known]
    assert migrations.status(database).current


@pytest.mark.proves("MG-03")
def test_threads_that_prepare_at_once_find_one_schema(database, database_url, clock):
    if database.dialect == "postgres":
        migrations.migrate(database)
    opened = [open_database(database_url, clock=clock) for _ in range(4)]

    answers = race(*(lambda d=d: prepare(d) for d in opened))

    assert answers == [None] * 4
    for each in opened:
        each.close()


def test_a_schema_that_is_newer_than_the_code_is_refused(database):
    known = migrations.migrate(database)
    row = f"('haulwright.stores', {known + 1}, 'next', 'x')"
    newer = f"insert into haulwright_migrations (chain, number, name, digest) values {row}"  # noqa: S608 - from above
    database.transact(lambda connection: connection.execute(newer))

    for act in (migrations.status, migrations.migrate, prepare):
        with pytest.raises(SchemaMismatch, match=f"version {known + 1}, and this code knows {known}") as refusal:
            act(database)
        assert "Upgrade Haulwright" in refusal.value.hint


@pytest.mark.proves("MG-03", "MG-05")
def test_a_file_that_changed_after_it_was_applied_is_refused(database):
    migrations.migrate(database)
    database.transact(lambda connection: connection.execute("update haulwright_migrations set digest = 'other'"))

    for act in (migrations.status, migrations.migrate, prepare):
        with pytest.raises(SchemaMismatch, match="another file"):
            act(database)


@pytest.mark.proves("MG-03")
def test_only_what_is_missing_is_applied(database, monkeypatch):
    migrations.migrate(database)
    chain_with(monkeypatch, "more", "create table more (id integer);", dialect=database.dialect)

    assert not migrations.status(database).current
    assert migrations.migrate(database) == 1
    assert database.read(lambda connection: connection.execute("select count(*) from more")) == [(0,)]


def test_a_migration_that_fails_leaves_the_schema_as_it_was(database, monkeypatch):
    migrations.migrate(database)
    before = schema_of(database)
    bad = "create table half (id integer);\ncreate table half (id integer);"
    chain_with(monkeypatch, "bad", bad, dialect=database.dialect)

    with pytest.raises(Exception, match="half"):
        migrations.migrate(database)

    assert schema_of(database) == before


@pytest.mark.proves("MG-04")
def test_sqlite_migrates_itself_on_first_use(sqlite_url, clock, worker):
    with closing(Store.open(sqlite_url, clock=clock)) as store:
        store.jobs.enqueue([new_job()])
        assert settle(store, claim_one(store, worker))


@pytest.mark.proves("MG-04")
@pytest.mark.postgres
def test_postgresql_is_migrated_on_purpose(postgres_url, clock):
    with pytest.raises(SchemaMismatch, match="version 0, and this code needs") as refusal:
        Store.open(postgres_url, clock=clock)
    assert "haulwright db migrate" in refusal.value.hint

    with closing(open_database(postgres_url, clock=clock)) as database:
        migrations.migrate(database)
    Store.open(postgres_url, clock=clock).close()


@pytest.mark.proves("MG-02", "MG-01")
def test_the_printed_script_makes_the_same_schema_by_the_databases_own_shell(database, database_url, tmp_path):
    script = tmp_path / "schema.sql"
    script.write_text(migrations.printed(database.dialect))

    _run_in_shell(database.dialect, database_url, script)

    printed = schema_of(database)
    assert migrations.status(database).current
    assert migrations.migrate(database) == 0
    _start_over(database)
    migrations.migrate(database)
    assert printed == schema_of(database)


def test_a_chain_without_a_file_is_refused(monkeypatch, tmp_path):
    folder = tmp_path / "sqlite" / "migrations"
    folder.mkdir(parents=True)
    for name in ("0001_one.sql", "0003_three.sql"):
        (folder / name).write_text("select 1;")
    monkeypatch.setattr(migrations, "files", lambda _: tmp_path)

    with pytest.raises(SchemaMismatch, match="without a gap"):
        migrations.chain_of.__wrapped__("somewhere", "sqlite")


def _run_in_shell(dialect, url, script):
    if dialect == "postgres":
        wheel = wheel_binaries()
        psql = shutil.which("psql") or (wheel and wheel / "psql")
        if not psql:
            psycopg.connect(url, autocommit=True).execute(script.read_bytes())
            return
        subprocess.run([psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", script, url], check=True)
        return
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.executescript(script.read_text())


def _start_over(database):
    def work(connection):
        if connection.dialect == "postgres":
            ((schema,),) = connection.execute("select current_schema()")
            connection.execute(f"drop schema {schema} cascade; create schema {schema}")
            return
        for kind in ("view", "trigger", "index", "table"):
            asked = f"select name from sqlite_master where type = '{kind}' and name like 'haulwright%'"  # noqa: S608
            for (name,) in connection.execute(asked):
                connection.execute(f"drop {kind} {name}")

    database.transact(work)

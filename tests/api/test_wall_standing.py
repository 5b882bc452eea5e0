"""How the second wall is put up and stands: by whom it can be, what it costs nobody, and that nothing of it leaks."""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest

from haulwright import Haulwright, State
from haulwright.operations import request_stores
from haulwright.operations.access import Noun
from haulwright.operations.request_stores import store_for
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.listing import JobFilter
from haulwright.stores.postgres.connection import PostgresConnection
from haulwright.stores.postgres.request_scope import ScopedDatabase
from haulwright.stores.postgres.wall import look_at_wall, raise_wall
from haulwright.stores.store import Store
from tests.api.conftest import serving
from tests.api.walled import ACME, ADMIN, GLOBEX, execute, request_of
from tests.support.outages import read_only_server
from tests.support.pgbouncer import pgbouncer, program

pytestmark = pytest.mark.postgres


@pytest.fixture
def app(postgres_url: str) -> Iterator[Haulwright]:
    """An app with a task, behind the wall."""
    with closing(Haulwright(postgres_url)) as app:
        declare(app)
        app.operations().schema.migrate()
        yield app


def declare(app: Haulwright) -> None:
    @app.task()
    def add(a: int, b: int = 2) -> int:
        return a + b


def wall_finding(app: Haulwright):
    (finding,) = [each for each in app.operations(ADMIN).health.examine(Settings.load()) if each.check == "wall"]
    return finding


@contextmanager
def database_of(server, options: str) -> Iterator[tuple[str, str]]:
    """A database of its own with an owner of its own, and the address by which that one comes."""
    name = f"wall_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.url(), autocommit=True) as root:
        root.execute(f"create role {name} login {options}")
        root.execute(f"create database {name} owner {name}")
        try:
            yield server.url(name).replace("haulwright@", f"{name}@", 1), name
        finally:
            root.execute(f"drop database {name} with (force)")
            root.execute(f"drop role if exists haulwright_tenant_{name}")
            root.execute(f"drop role {name}")


def test_the_api_itself_goes_behind_the_wall_with_or_without_a_key(app, monkeypatch):
    with serving(app) as served:
        foreign = served.client("globex").post("/jobs", json={"task": "add", "args": {"a": 1}}).json()["id"]
        client = served.client("acme")
        key = {"Idempotency-Key": "k1"}
        own = client.post("/jobs", json={"task": "add", "args": {"a": 1}}, headers=key).json()["id"]
        absent = client.get(f"/jobs/{uuid.uuid4()}").json()
        monkeypatch.setattr(Noun, "_tenant", None)

        found = client.get(f"/jobs/{foreign}").json()

        assert {job["id"] for job in client.get("/jobs").json()["jobs"]} == {own}
        assert (found["status"], found["code"], found["title"]) == (404, absent["code"], absent["title"])
        assert client.post(f"/jobs/{foreign}/cancel", json={}, headers={"Idempotency-Key": "k2"}).status_code == 404
        assert len(served.admin().get("/jobs").json()["jobs"]) == 2
    with closing(Haulwright(app.database_url)) as again:
        assert again.store.listing.get(foreign).state == "queued"


def test_a_statement_of_a_request_that_takes_too_long_is_broken_off_and_told(app, postgres_url, monkeypatch):
    monkeypatch.setattr(request_stores, "STATEMENT_SECONDS", 0.3)
    with serving(app) as served, psycopg.connect(postgres_url) as holder:
        clients = served.client("acme"), served.admin(**{"Haulwright-Tenant": "acme"})
        job_id = clients[0].post("/jobs", json={"task": "add", "args": {"a": 1}}).json()["id"]
        holder.execute("select id from haulwright_jobs for update")

        answers = [client.post(f"/jobs/{job_id}/cancel", json={}) for client in clients]
        holder.rollback()

        assert [(answer.status_code, answer.headers["retry-after"]) for answer in answers] == [(503, "5")] * 2
        assert clients[0].post(f"/jobs/{job_id}/cancel", json={}).status_code == 200


def test_nothing_of_a_request_stays_on_a_connection(postgres_url):
    with closing(Haulwright(postgres_url)) as app:
        app.operations().schema.migrate()
    with closing(open_database(postgres_url, pool_size=1)) as database:
        wall = look_at_wall(database)
        scoped = ScopedDatabase(database, seconds=5, wall=wall, tenant="acme")
        asked = "select current_user, current_setting('haulwright.tenant', true), current_setting('statement_timeout')"

        def fail(connection):
            connection.execute("select 1")
            raise ZeroDivisionError

        before = database.read(lambda connection: connection.execute(asked))
        inside = scoped.read(lambda connection: connection.execute(asked))
        with pytest.raises(ZeroDivisionError):
            scoped.transact(fail)
        with pytest.raises(psycopg.Error):
            scoped.transact(lambda connection: connection.execute("select 1 / 0"))
        with pytest.raises(psycopg.Error):
            scoped.read(lambda connection: connection.execute("select 1 / 0"))
        with pytest.raises(RuntimeError, match="single statements"):
            scoped.read(lambda connection: connection.script("create table of_the_owner ()"))
        scoped.transact(lambda _: None)
        after = database.read(lambda connection: connection.execute(asked))

    assert inside == [(wall.role, "acme", "5s")]
    assert (after[0][0], after[0][1] or None, after[0][2]) == (before[0][0], None, before[0][2])


@pytest.mark.skipif(program() is None, reason="no PgBouncer on this machine")
def test_the_wall_stands_behind_pgbouncer_in_transaction_mode(postgres_server):
    with (
        read_only_server(postgres_server) as server,
        pgbouncer(server.url, "transaction") as address,
        closing(Haulwright(f"{address}?pooler=transaction")) as app,
    ):
        declare(app)
        app.operations().schema.migrate()
        for who in (ACME, GLOBEX) * 10:
            with request_of(app, who) as operations:
                operations.jobs.enqueue("add", {"a": 1})

        for who in (ACME, GLOBEX):
            assert {tenant for (tenant,) in execute(app, who, "select tenant from haulwright_jobs")} == {who.tenant}
        assert len(app.store.database.read(lambda each: each.execute("select id from haulwright_jobs"))) == 20


def test_a_user_who_may_create_no_roles_works_without_the_wall_until_an_administrator_types_the_line(postgres_server):
    with database_of(postgres_server, "nocreaterole") as (url, name), closing(Haulwright(url)) as app:
        declare(app)
        app.operations().schema.migrate()
        finding = wall_finding(app)
        with request_of(app, ACME) as operations:
            operations.jobs.enqueue("add", {"a": 1})
            assert len(operations.jobs.page().jobs) == 1
        assert (finding.level, f"{name} could not create it" in finding.sentence) == ("warn", True)

        statement = finding.next_step.partition("psql -c '")[2].partition("'")[0]
        with psycopg.connect(postgres_server.url(), autocommit=True) as root:
            root.execute(statement)
        app.operations().schema.migrate()

        assert wall_finding(app).level == "ok"
        assert look_at_wall(app.store.database).role == f"haulwright_tenant_{name}"
        # Another process, which looks anew: the owner is no superuser, and bound like anybody once it is the role.
        with closing(Haulwright(url)) as again, request_of(again, GLOBEX) as operations:
            assert operations.jobs.page().jobs == []
            assert again.store.database.read(lambda each: each.execute("select tenant from haulwright_jobs")) == []
            assert len(again.own_store.database.read(lambda each: each.execute("select id from haulwright_jobs"))) == 1


def test_two_databases_of_one_owner_make_its_role_at_the_same_time(postgres_server):
    with database_of(postgres_server, "createrole") as (url, name):
        other = f"{name}_2"
        with psycopg.connect(postgres_server.url(), autocommit=True) as root:
            root.execute(f"create database {other} owner {name}")
            try:
                walls = raise_side_by_side([url, url.replace(f"/{name}?", f"/{other}?", 1)])
            finally:
                root.execute(f"drop database {other} with (force)")

    assert [(wall.is_up, wall.role) for wall in walls] == [(True, f"haulwright_tenant_{name}")] * 2


def raise_side_by_side(urls: list[str]) -> list:
    walls, ready = [], threading.Barrier(len(urls))

    def work(url: str) -> None:
        with closing(open_database(url)) as database:
            migrations.migrate(database)
            ready.wait(30)
            walls.append(raise_wall(database))

    threads = [threading.Thread(target=work, args=(url,)) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return walls


def test_a_database_that_was_migrated_before_gets_the_wall_and_then_is_left_alone(postgres_url):
    with closing(open_database(postgres_url)) as database:
        migrations.migrate(database)
        assert not look_at_wall(database).is_up

    with closing(Haulwright(postgres_url)) as app, psycopg.connect(postgres_url) as reader:
        app.operations().schema.migrate()
        assert wall_finding(app).level == "ok"
        reader.execute("select 1 from haulwright_jobs")  # holds its lock, in which an alter table would wait
        app.operations().schema.migrate()


def test_the_printed_script_puts_up_the_same_wall(postgres_url):
    with closing(Haulwright(postgres_url)) as app:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(app.operations().schema.script("postgres").encode())
        assert wall_finding(app).level == "ok"
        declare(app)
        with request_of(app, ACME) as operations:
            assert operations.events.follow(after="0").rows == []
            assert operations.jobs.enqueue("add", {"a": 1}).created


def test_another_user_than_the_owner_still_reads_what_it_was_allowed_to(app, postgres_url):
    app.operations(ACME).jobs.enqueue("add", {"a": 1})
    name = f"reader_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as root:
        ((schema,),) = root.execute("select current_schema()").fetchall()
        root.execute(f"create role {name} login; grant usage on schema {schema} to {name}")
        root.execute(f"grant select on haulwright_jobs, haulwright_history, haulwright_recent to {name}")
        try:
            root.execute(f"set role {name}")
            assert len(root.execute("select * from haulwright_jobs").fetchall()) == 1
            assert len(root.execute("select * from haulwright_recent").fetchall()) == 1
        finally:
            root.execute("reset role")
            root.execute(f"drop owned by {name}; drop role {name}")


@pytest.mark.parametrize("state", [None, State.DEAD, State.QUEUED])
def test_the_list_of_a_tenants_jobs_is_read_by_the_same_index_behind_the_wall(app, monkeypatch, state):
    fill_history(app)
    scoped = ScopedDatabase(app.store.database, seconds=5)
    which = JobFilter(tenant="acme", state=state)
    walled, open_to_all = (
        indexes_of(monkeypatch, Store(database), lambda store: store.listing.page(which, limit=20))
        for database in (store_for(app, ACME).database, scoped)
    )

    assert walled == open_to_all
    assert walled, "something is read by an index"


def fill_history(app: Haulwright) -> None:
    """Five thousand finished jobs of a hundred tenants."""
    columns = "id, tenant, task, queue, state, rank, run_at, args, attempts, max_attempts, deferrals, losses, fence"
    values = "gen_random_uuid(), 't' || n % 100, 'add', 'default', 'dead', 0, 0, '{}', 1, 1, 0, 0, 1"
    app.store.database.transact(
        lambda connection: connection.script(
            f"insert into haulwright_history ({columns}, job_key, tags, lease_us, created_at, updated_at, finished_at) "  # noqa: S608
            f"select {values}, n, '[]', 1, 0, 0, n from generate_series(1, 5000) n; analyze haulwright_history"
        )
    )


def indexes_of(monkeypatch, store: Store, act) -> list[str]:
    """By which indexes the statements of an act are run; none reads a whole table of jobs."""
    sent = []
    run = PostgresConnection._execute
    with monkeypatch.context() as patch:
        patch.setattr(
            PostgresConnection,
            "_execute",
            lambda self, statement, params: sent.append((statement, params)) or run(self, statement, params),
        )
        act(store)
    names = []
    for statement, params in sent:
        rows = store.database.read(lambda each, s=statement, p=params: each.execute(f"explain {s}", p))
        plan = "\n".join(line for (line,) in rows)
        assert "Seq Scan on haulwright_jobs" not in plan
        assert "Seq Scan on haulwright_history" not in plan
        names += re.findall(r"(?:using|on) (haulwright_(?:jobs|history)_\w+)", plan)
    return sorted(set(names))

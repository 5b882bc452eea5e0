"""A transaction pooler that nobody told us of is recognised before anything is done, and told with the line to type."""

from __future__ import annotations

from contextlib import closing, contextmanager
from types import SimpleNamespace

import psycopg
import pytest

from haulwright.errors import DatabaseUnsuitable
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from tests.stores.scenes import claim_one, new_job, rows, settle
from tests.support.outages import read_only_server
from tests.support.pgbouncer import pgbouncer, program

pytestmark = pytest.mark.postgres
SECRET = "hunter2"  # noqa: S105 - what must not be seen
real = pytest.mark.skipif(program() is None, reason="no PgBouncer on this machine")


@pytest.fixture
def url(postgres_server):
    """A database of its own: poolers do not pass a search path on."""
    with read_only_server(postgres_server) as server:
        with closing(open_database(server.url)) as database:
            migrations.migrate(database)
        yield server.url


class Pooled:
    """A connection as a client of a pooler has it: who greets is not who serves."""

    def __init__(self, server):
        self._server = server
        of_server = server.info
        self.info = SimpleNamespace(
            backend_pid=-1,
            server_version=of_server.server_version,
            parameter_status=of_server.parameter_status,
        )

    def __getattr__(self, name):
        return getattr(self._server, name)

    def close(self):
        """The connection of the server stays open for others."""


@contextmanager
def pooled(monkeypatch, url, *, servers):
    """Have connections served by so many of the server, in turn, as a pooler does that keeps no sessions."""
    connect, opened = psycopg.connect, []
    monkeypatch.setattr(
        psycopg, "connect", lambda *_, **__: opened.append(1) or Pooled(backends[len(opened) % servers])
    )
    backends = [connect(url, autocommit=True) for _ in range(servers)]
    try:
        yield backends
    finally:
        for backend in backends:
            backend.close()


def test_a_pooler_that_shares_its_sessions_is_told_with_the_line_to_type(url, monkeypatch):
    with pooled(monkeypatch, url, servers=1) as (backend,):
        with pytest.raises(DatabaseUnsuitable, match="pool_mode = transaction") as refusal:
            Store.open(f"postgresql://root:{SECRET}@pooler:6432/jobs")

        assert refusal.value.hint == "Write postgresql://user:password@pooler:6432/jobs?pooler=transaction"
        assert SECRET not in str(refusal.value)
        assert backend.execute("select current_setting('lock_timeout')").fetchone() == ("0",)


def test_a_pooler_that_keeps_sessions_is_used_as_the_server_itself(url, monkeypatch):
    with pooled(monkeypatch, url, servers=2) as backends, closing(open_database(url, pool_size=1)) as database:
        database.read(lambda connection: connection.execute("select 1"))

        limits = [backend.execute("select current_setting('lock_timeout')").fetchone() for backend in backends]
        assert sorted(limits) == [("0",), ("10s",)]


def test_prepared_statements_that_a_pooler_took_away_are_made_again(url):
    with closing(Store(open_database(url, pool_size=1))) as store:
        for _ in range(10):
            store.jobs.enqueue([new_job()])
        store.database.read(lambda connection: connection.execute("deallocate all"))

        assert store.jobs.enqueue([new_job()])[0].created


@real
def test_pgbouncer_in_transaction_mode_is_recognised_idle_and_busy(url):
    with pgbouncer(url, "transaction") as address:
        for busy in (False, True):
            with closing(psycopg.connect(address, autocommit=True)) as other:
                other.execute("begin" if busy else "select 1")

                with pytest.raises(DatabaseUnsuitable, match="pool_mode = transaction"):
                    Store.open(address)

    with closing(open_database(url)) as database:
        assert rows(SimpleNamespace(database=database), "select count(*) from haulwright_workers") == [(0,)]


@real
def test_pgbouncer_in_transaction_mode_is_used_where_the_address_says_so(url, worker):
    with pgbouncer(url, "transaction") as address, closing(Store.open(f"{address}?pooler=transaction")) as store:
        store.jobs.enqueue([new_job()])

        assert settle(store, claim_one(store, worker))


@real
def test_pgbouncer_in_session_mode_needs_no_word(url, worker):
    with pgbouncer(url, "session") as address, closing(Store.open(address)) as store:
        store.jobs.enqueue([new_job()])

        assert settle(store, claim_one(store, worker))
        assert rows(store, "select current_setting('lock_timeout')") == [("10s",)]

"""Databases for the tests: a real SQLite file and a real PostgreSQL, each fresh for every test that asks."""

from __future__ import annotations

import os
import signal
import sys
import tomllib
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples
from psycopg import sql

from haulwright.discovery import GROUP
from tests.support.binaries import PostgresUnavailable
from tests.support.postgres import Addressed, obtain
from tests.support.tables import Files, Schemas
from tools.document_lines import REFUSALS, lines_of, refused_on
from tools.requirements import read_requirements

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: the processes that tests interrupt would inherit that they ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

if sys.dont_write_bytecode:
    # An image that sets PYTHONDONTWRITEBYTECODE would have each of the thousand processes that tests start compile the
    # whole package anew, which takes longer than most of what they do.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A busy machine is slow, and no example is wrong for it.
examples.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("patient")


def pytest_configure() -> None:
    """Refuse an environment that was made before pyproject.toml last named its entry points."""
    declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
        "entry-points"
    ]
    installed = {entry_point.name for entry_point in entry_points(group=GROUP)}
    if missing := set(declared[GROUP]) - installed:
        pytest.exit(f"The applications {sorted(missing)} are not installed in this environment. Run: make setup-dev", 4)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test that claims to prove what no requirement says; expect of documents' lines what is said of them."""
    known = {requirement.id for requirement in read_requirements()}
    for item in items:
        claimed = {name for mark in item.iter_markers("proves") for name in mark.args}
        if unknown := claimed - known:
            raise pytest.UsageError(f"{item.nodeid} proves {sorted(unknown)}, which docs/requirements.md does not list")
        _expect(item)


def _expect(item: pytest.Item) -> None:
    """A line of a team's document that is said to differ or to be missing must be seen to."""
    lines = lines_of(item.path, item.iter_markers("line"))
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    names = [value for value in parameters.values() if isinstance(value, str)]
    database = next((name for name in names if name in {"sqlite", "postgres"}), None)
    if lines and (reason := refused_on(lines, database)):
        item.add_marker(pytest.mark.xfail(reason=reason, raises=REFUSALS, strict=True))
    item.user_properties += [("line", (asdict(line), database)) for line in lines]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Addressed]:
    """One server for this process, without fsync: fast, and thrown away."""
    yield from _serve(durable=False)


@pytest.fixture(scope="session")
def durable_postgres_server() -> Iterator[Addressed]:
    """One more with the durability settings on, for tests that crash things."""
    for server in _serve(durable=True):
        _require_durable(server)
        yield server


@pytest.fixture
def postgres_url(postgres_server: Addressed) -> Iterator[str]:
    """An empty schema of its own, first in the search path of everyone who uses this address."""
    yield from _schema(postgres_server)


@pytest.fixture
def durable_postgres_url(durable_postgres_server: Addressed) -> Iterator[str]:
    """The same on the durable server."""
    yield from _schema(durable_postgres_server)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A file that does not exist yet."""
    return f"sqlite:///{tmp_path}/haulwright.db"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, without a table: what is asked of one is asked of both."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def database_url(empty_database_url: str) -> str:
    """The same, where a folder does not say that its tests begin with tables."""
    return empty_database_url


@pytest.fixture
def package() -> str:
    """The application whose tables a made database has beside those of the engine; none, unless a folder says so."""
    return ""


@pytest.fixture
def walled() -> bool:
    """Whether a made PostgreSQL has the second wall, which `db migrate` puts up; not for tests of a bare store."""
    return False


@pytest.fixture(scope="session")
def made_files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """SQLite files that have their tables."""
    return Files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="session")
def made_schemas(postgres_server: Addressed) -> Iterator[Schemas]:
    """Schemas that have their tables."""
    with closing(Schemas(postgres_server)) as schemas:
        yield schemas


@pytest.fixture
def made_sqlite_url(made_files: Files, package: str, tmp_path: Path) -> str:
    """A file of this test's own, with the tables in it."""
    return f"sqlite:///{made_files.copy(package, tmp_path / 'haulwright.db')}"


@pytest.fixture
def made_postgres_url(made_schemas: Schemas, package: str, *, walled: bool) -> Iterator[str]:
    """A schema with the tables in it, empty again after each test."""
    yield from made_schemas.lend(package, walled=walled)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def made_database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn with its tables in it: what most tests begin with."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


def _serve(*, durable: bool) -> Iterator[Addressed]:
    """A machine without PostgreSQL may skip; one that decides about changes may not."""
    try:
        server = obtain(durable=durable)
    except PostgresUnavailable as reason:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(f"PostgreSQL is required here: {reason}")
        pytest.skip(f"no PostgreSQL: {reason}")
    try:
        yield server
    finally:
        server.stop()


def _require_durable(server: Addressed) -> None:
    """A server given by an address may have been made fast and forgetful; crash tests on it would prove nothing."""
    with psycopg.connect(server.url()) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            value = connection.execute("select current_setting(%s)", [setting]).fetchone()
            if value == ("off",):
                pytest.fail(f"crash tests need a PostgreSQL with {setting} on")


def _schema(server: Addressed) -> Iterator[str]:
    schema = f"test_{uuid.uuid4().hex}"
    name = sql.Identifier(schema)
    _execute(server, sql.SQL("create schema {}").format(name))
    yield server.url(search_path=schema)
    # A transaction that a test left open is a defect of that test, and shows as a lock time-out here.
    _execute(server, sql.SQL("set lock_timeout = '10s'; drop schema {} cascade").format(name))


def _execute(server: Addressed, statement: sql.Composed) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(statement)

"""What the proofs are given: both databases, durable where things are killed, and a table at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from proof.support.site import Site
from proof.support.workload import Workload
from tests.conftest import (  # noqa: F401 - fixtures are found by their names
    database_url,
    durable_postgres_server,
    durable_postgres_url,
    empty_database_url,
    postgres_server,
    postgres_url,
    sqlite_url,
)

TABLES = pytest.StashKey[dict[str, list[str]]]()


@pytest.fixture(params=["sqlite", pytest.param("durable_postgres", marks=pytest.mark.postgres)])
def durable_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, with every durability setting on: SQLite is never opened otherwise."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def site(durable_url: str, tmp_path: Path) -> Iterator[Site]:
    """A fresh site on a durable database, where time stands still."""
    with closing(Site.prepare(durable_url, tmp_path)) as site:
        yield site


@pytest.fixture
def work(site: Site) -> Iterator[Workload]:
    """The tasks of the proofs at that site, with the table that their commits write to."""
    with closing(Workload(site)) as work:
        work.prepare()
        yield work


@pytest.fixture
def report(request: pytest.FixtureRequest) -> list[str]:
    """Lines that are printed when all is over, under the name of the proof."""
    tables = request.config.stash.setdefault(TABLES, {})
    return tables.setdefault(request.node.originalname or request.node.name, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the proofs found."""
    for name, lines in config.stash.get(TABLES, {}).items():
        terminalreporter.section(name.removeprefix("test_").replace("_", " "))
        for line in lines:
            terminalreporter.line(line)

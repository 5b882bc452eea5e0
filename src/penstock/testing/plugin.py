"""The pytest plugin. It is imported by every test run of the environment, so it imports nothing before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from penstock.sandbox import Sandbox
    from penstock.testing.bench import Bench


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the tests run on PostgreSQL as well."""
    parser.getgroup("penstock").addoption(
        "--penstock-database",
        metavar="URL",
        help="give each test a schema of its own on this PostgreSQL server, instead of an SQLite file",
    )


@pytest.fixture
def penstock(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """A bench with an empty database and a clock that only the test moves: `penstock.use(app)` first."""
    from penstock.testing.bench import Bench  # noqa: PLC0415 - see above
    from penstock.testing.databases import fresh_database  # noqa: PLC0415 - see above

    server = request.config.getoption("--penstock-database")
    with fresh_database(server, tmp_path) as url, closing(Bench(url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The outside world on loopback, on the clock of `penstock` where the test uses that as well."""
    from penstock.sandbox import Clock, Sandbox  # noqa: PLC0415 - see above

    shared = "penstock" in request.fixturenames
    bench = request.getfixturevalue("penstock") if shared else None
    clock = Clock(lambda: bench.clock.now() / 1_000_000) if bench else Clock()
    with Sandbox(clock=clock) as outside:
        if shared:
            outside.apify.longest_wait_seconds = 0  # nobody would move the clock meanwhile
        yield outside

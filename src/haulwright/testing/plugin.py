"""The pytest plugin. It is imported by every test run of the environment, so it imports nothing before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from haulwright.sandbox import Sandbox
    from haulwright.testing.harness import Harness


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the tests run on PostgreSQL as well."""
    parser.getgroup("haulwright").addoption(
        "--haulwright-database",
        metavar="URL",
        help="give each test a schema of its own on this PostgreSQL server, instead of an SQLite file",
    )


@pytest.fixture
def haulwright(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """A harness with an empty database and a clock that only the test moves: `haulwright.use(app)` first."""
    from haulwright.testing.databases import fresh_database  # noqa: PLC0415 - see above
    from haulwright.testing.harness import Harness  # noqa: PLC0415 - see above

    server = request.config.getoption("--haulwright-database")
    with fresh_database(server, tmp_path) as url, closing(Harness(url, tmp_path)) as harness:
        yield harness


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The outside world on loopback, on the clock of `haulwright` where the test uses that as well."""
    from haulwright.sandbox import Sandbox, SandboxClock  # noqa: PLC0415 - see above

    shared = "haulwright" in request.fixturenames
    harness = request.getfixturevalue("haulwright") if shared else None
    clock = SandboxClock(lambda: harness.clock.now() / 1_000_000) if harness else SandboxClock()
    with Sandbox(clock=clock) as outside:
        if shared:
            outside.apify.longest_wait_seconds = 0  # nobody would move the clock meanwhile
        yield outside

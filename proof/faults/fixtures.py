"""What the fault proofs are given, at full size and at small size alike."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from proof.faults.crew import Crew
from proof.faults.disk import Disk, LimitedFiles, SmallDisk, may_mount
from proof.faults.server import named
from proof.support.site import Site
from proof.support.workload import Workload
from tests.support.binaries import PostgresUnavailable
from tests.support.postgres import Server, start


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of our own that may be mistreated: durable, and reached through loopback."""
    try:
        server = start(durable=True, tcp=True)
    except PostgresUnavailable as reason:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(f"PostgreSQL is required here: {reason}")
        pytest.skip(f"no PostgreSQL: {reason}")
    with server:
        yield server


@pytest.fixture
def served_site(server: Server, tmp_path: Path) -> Iterator[Site]:
    """A site on that server, where time goes by as it does."""
    schema = f"faults_{uuid.uuid4().hex}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"create schema {schema}")
    with closing(Site.prepare(server.url(search_path=schema), tmp_path, clock=False)) as site:
        yield site


@pytest.fixture
def served_work(served_site: Site) -> Iterator[Workload]:
    """The tasks of the proofs there."""
    yield from _workload(served_site)


@pytest.fixture
def served_crew(served_site: Site) -> Iterator[Crew]:
    """Workers there, whose connections can be told from those of the proof."""
    with Crew(served_site, url=named(served_site.url)) as crew:
        yield crew


@pytest.fixture(params=[LimitedFiles, SmallDisk], ids=["files may not grow", "the file system is full"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """A place for a database whose room can be taken away."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if request.param is SmallDisk and not may_mount():
        pytest.skip("this user may not mount a file system")
    disk = request.param(folder)
    yield disk
    disk.close()


@pytest.fixture
def disk_work(disk: Disk, tmp_path: Path) -> Iterator[Workload]:
    """The tasks of the proofs, with their database on that disk and their diaries elsewhere."""
    yield from _workload(Site.prepare(f"sqlite:///{disk.file}", tmp_path, clock=False))


@pytest.fixture
def plain_work(database_url: str, tmp_path: Path) -> Iterator[Workload]:
    """The tasks of the proofs on each database in turn, where time goes by as it does."""
    yield from _workload(Site.prepare(database_url, tmp_path, clock=False))


@pytest.fixture
def timeless_work(database_url: str, tmp_path: Path) -> Iterator[Workload]:
    """The same where time stands still until the proof moves it."""
    yield from _workload(Site.prepare(database_url, tmp_path))


def _workload(site: Site) -> Iterator[Workload]:
    with closing(Workload(site)) as work:
        work.prepare()
        yield work

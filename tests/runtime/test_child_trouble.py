"""A child process that meets an outage while it starts has not begun: that is no attempt, and no loss."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from haulwright import Observer
from haulwright.engine import lease
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import isolated
from tests.support.outages import read_only_server

pytestmark = pytest.mark.postgres


@pytest.fixture
def outage(postgres_server):
    """A server that can refuse new sessions, so that only the child feels it."""
    with read_only_server(postgres_server) as outage:
        with closing(open_database(outage.url)) as database:
            migrations.migrate(database)
        yield outage


@pytest.fixture
def app(outage):
    with isolated.app.moved_to(outage.url) as app:
        yield app


def test_a_child_that_finds_no_database_when_it_starts_costs_its_job_nothing(app, outage, start_worker, monkeypatch):
    class Outage(Observer):
        def claimed(self, _event):
            outage.admit(newcomers=bool(failures))

        def not_started(self, event):
            failures.append(event.failure.message)

        def child_died(self, event):
            deaths.append(event.phase)

    failures, deaths = [], []
    monkeypatch.setattr(lease, "START_WAIT_SECONDS", 0.1)
    monkeypatch.setattr(app, "observers", [Outage()])
    handle = isolated.where.enqueue()
    start_worker(concurrency=1)

    assert handle.result(60) != os.getpid()
    assert (handle.job().attempts, handle.job().losses) == (1, 0)
    assert "not currently accepting connections" in failures[0]
    assert deaths == ["start"]

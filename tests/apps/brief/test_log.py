"""What a worker of the brief says in its log: start, end, duration, rows, errors."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from haulwright.apps.brief.compat import claim_slot
from haulwright.testing.harness import START
from tests.apps.brief.test_runs import subscribe


def lines(caplog, message, **facts):
    """What a line of this message says, of those that say all of these."""
    records = [record.facts for record in caplog.records if record.getMessage() == message]
    return [line for line in records if line.items() >= facts.items()]


@pytest.mark.proves("LG-01")
def test_the_log_has_start_end_duration_and_rows_of_a_run(world, caplog):
    subscribe(world, "one.xml", "two.xml")
    caplog.set_level(logging.INFO, "haulwright")

    job = claim_slot(world.app, "rss_ingestion", START)
    world.bench.drain()

    first, again = lines(caplog, "run started", job=job)
    assert (first["job_name"], first["worker"], first == again) == ("rss_ingestion", "bench", True)
    (end,) = lines(caplog, "job succeeded", job=job)
    assert (end["rows"], end["feeds"], end["new"], end["failed"]) == (2, 2, 2, 0)
    assert end["seconds"] >= 0
    fetches = lines(caplog, "job succeeded", task="brief.fetch")
    assert [(line["entries"], line["new"], line["repeated"]) for line in fetches] == [(1, 1, 0)] * 2


@pytest.mark.proves("LG-01")
def test_the_log_has_the_error_of_a_run(world, caplog):
    world.add_feed(f"{world.sandbox.url}/files/none.xml")
    caplog.set_level(logging.INFO, "haulwright")

    job = claim_slot(world.app, "rss_ingestion", START)
    world.bench.drain()

    (end,) = lines(caplog, "job dead", job=job)
    assert end["error"].startswith("None of 1 feeds was read")


@pytest.mark.proves("RE-03")
def test_the_log_has_the_counts_of_what_was_removed(world, caplog):
    subscribe(world, "one.xml")
    world.read()
    world.cluster()
    world.bench.advance("91 days")
    caplog.set_level(logging.INFO, "haulwright")

    claim_slot(world.app, "retention_cleanup", START)
    world.bench.drain()

    (end,) = lines(caplog, "job succeeded", task="brief.retain")
    assert (end["rows"], end["brief_articles"], end["brief_links"]) == (2, 1, 1)


def test_a_worker_for_brief_alone_says_that_it_starts(tmp_path):
    command = [sys.executable, "-m", "haulwright.apps.brief", "--until-empty"]
    environment = {"PATH": "", "HAULWRIGHT_DATABASE_URL": f"sqlite:///{tmp_path}/brief.db"}

    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert "worker started" in ended.stderr
    assert "queues=" in ended.stderr

"""How far a long drain is: a line in the log now and then, or one that is rewritten on a terminal."""

from __future__ import annotations

import json
import logging
import os
import pty

import pytest

from haulwright.cli.kit.status_line import LineHandler, StatusLine
from haulwright.engine.ids import new_id
from haulwright.operations.progress import QueueTally
from tests.cli.conftest import SHOP
from tests.cli.test_top import read_until
from tests.stores.scenes import bury, claim, new_job, settle


@pytest.fixture
def drained(haulwright, enqueue):
    """Drain three jobs, one of which dies, with these words more; the lines of progress."""
    for sku in ("A1", "bad", "A2"):
        enqueue("price", f"sku={sku}")
    enqueue("price", "sku=A3", "--delay", "1 h")

    def run(*words):
        answer = haulwright("worker", "-A", SHOP, "--until-empty", "--log-format", "json", *words)
        return [line for line in map(json.loads, answer.err.splitlines()) if line["message"] == "progress"]

    return run


def test_the_log_tells_what_is_done_failed_and_left(drained):
    first, *_, last = drained("--progress")

    assert (first["done"], first["left"]) == (0, 3)
    assert (last["done"], last["failed"], last["left"], last["later"]) == (2, 1, 0, 1)


def test_without_a_terminal_it_is_told_only_on_request(drained):
    assert drained() == []


def test_several_processes_are_told_of_as_one(process, haulwright, enqueue, database_url):
    for sku in ("A1", "bad", "A2"):
        enqueue("price", f"sku={sku}")
    words = ("--processes", "2", "--until-empty", "--progress", "--log-format", "json")
    _, told = process("worker", "-A", SHOP, "--database", database_url, *words).communicate(timeout=90)

    lines = [line for line in map(json.loads, told.splitlines()) if line["message"] == "progress"]

    assert len(lines) >= 2
    assert (lines[-1]["done"], lines[-1]["failed"]) == (2, 1)
    assert haulwright("queue", "list", "--json").json["queues"] == []


def test_on_a_terminal_one_line_is_rewritten(process, on_file, sqlite_url):
    on_file("run", "-A", SHOP, "price", "sku=A1")
    ours, theirs = pty.openpty()
    worker = process("worker", "-A", SHOP, "--until-empty", "--database", sqlite_url, stderr=theirs)

    seen = read_until(ours, b"\r\x1b[Kdone 1, failed 0, left 0")

    assert worker.wait(90) == 0
    worker.stdout.close()
    os.close(theirs)
    os.close(ours)
    assert b"\r\x1b[Kdone 1, failed 0, left 0" in seen


def test_a_line_of_the_log_is_written_above_the_status_line(capsys):
    line = StatusLine()
    record = logging.LogRecord("haulwright", logging.INFO, "", 0, "worker started", None, None)

    line.draw("done 0")
    LineHandler(line).emit(record)
    line.end()

    assert capsys.readouterr().err == "\r\x1b[Kdone 0\r\x1b[Kworker started\n\r\x1b[Kdone 0\n"


def test_rate_and_rest_follow_from_what_ended_between_the_looks(clock, store):
    store.jobs.enqueue([new_job() for _ in range(10)] + [new_job(queue="other")])
    tally = QueueTally(store, {"default"})
    tally.look()

    clock.advance(1)
    for lease in claim(store, new_id(), 6):
        settle(store, lease)
    bury(store, new_id(), queue="other")
    clock.advance(3)

    standing = tally.look()
    assert (standing.done, standing.failed, standing.left, standing.rate) == (6, 0, 4, 2.0)
    assert standing.eta_seconds == 2.0


def test_between_two_counts_the_rest_is_reckoned(clock, store, monkeypatch):
    """Counting a long queue takes its time: it is not done at every look."""
    monkeypatch.setattr("haulwright.operations.progress.SHARE", 10**9)
    store.jobs.enqueue([new_job() for _ in range(5)])
    tally = QueueTally(store, {"default"})
    assert tally.look().counted

    clock.advance(1)
    for lease in claim(store, new_id(), 2):
        settle(store, lease)
    clock.advance(2)
    store.jobs.enqueue([new_job()])

    reckoned, counted = tally.look(), tally.look(at_last=True)
    assert (reckoned.counted, reckoned.left) == (False, 3)
    assert (counted.counted, counted.left) == (True, 4)

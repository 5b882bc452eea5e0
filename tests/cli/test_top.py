"""The live view: what it counts, what it leaves out, how it ends. It only reads."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import termios
import time

import pytest

from haulwright.engine.ids import new_id
from haulwright.runtime.identity import this_process
from tests.cli.conftest import SHOP
from tests.stores.scenes import bury, claim, fail, new_job, settle

KEYS = ["at", "throughput", "queues", "more_queues", "workers", "failures"]


@pytest.fixture
def look(haulwright):
    """One look, as a document."""
    return lambda *words: haulwright("top", "--once", "--json", *words).json


def test_queues_are_shown_with_what_is_due_later_and_running_and_since_when(look, clock, store):
    store.jobs.enqueue([new_job(), new_job(), new_job(delay_us=10**9)])
    claim(store, new_id())
    clock.advance(90)
    store.queues.pause("default", actor="me", reason="")

    shown = look()
    (queue,) = shown["queues"]

    assert list(shown) == KEYS
    assert (queue["due"], queue["parked"], queue["running"]) == (1, 1, 1)
    assert (queue["oldest_due_at"], queue["paused_at"]) == ("2024-01-01T00:00:00Z", "2024-01-01T00:01:30Z")


def test_workers_are_shown_with_what_they_have_in_hand(look, store):
    store.workers.register(busy := this_process("busy"), ["default", "slow"], [])
    store.workers.register(this_process("idle"), ["other"], [])
    store.jobs.enqueue([new_job() for _ in range(3)])
    claim(store, busy.id, 2)

    shown = look()

    assert {(one["name"], one["running"]) for one in shown["workers"]} == {("busy", 2), ("idle", 0)}
    assert [(one["name"], one["workers"]) for one in shown["queues"]] == [("default", 1), ("other", 1), ("slow", 1)]


def test_the_throughput_is_that_of_the_last_ten_seconds(look, clock, store):
    store.jobs.enqueue([new_job() for _ in range(7)])
    for lease in claim(store, new_id(), 2):
        settle(store, lease)  # too long ago
    clock.advance(20)
    for lease in claim(store, new_id(), 5):
        settle(store, lease)
    bury(store, new_id(), queue="slow")
    clock.advance(2)

    shown = look()

    assert shown["throughput"] == {"done_per_second": 0.5, "failed_per_second": 0.1, "seconds": 10.0}
    assert [(one["name"], one["done_per_second"]) for one in shown["queues"]] == [("default", 0.5), ("slow", 0.0)]


def test_the_last_failures_are_shown_once_each_the_newest_first(look, store):
    store.jobs.enqueue([new_job()])
    (lease,) = claim(store, new_id())
    fail(store, lease)
    letter = bury(store, new_id(), queue="slow")

    failures = look()["failures"]

    assert [(one["job_id"], one["event"], one["queue"], one["attempt"]) for one in failures] == [
        (letter, "job.dead_lettered", "slow", 1),
        (lease.id, "job.failed", "default", 1),
    ]
    assert failures[0]["message"] == "it went wrong"


def test_one_queue_alone_is_shown_with_its_workers_and_failures(look, store):
    store.workers.register(this_process("here"), ["slow"], [])
    store.workers.register(this_process("elsewhere"), ["default"], [])
    store.jobs.enqueue([new_job(), new_job(queue="slow")])
    bury(store, new_id(), queue="other")

    shown = look("--queue", "slow")

    assert [one["name"] for one in shown["queues"]] == ["slow"]
    assert [one["name"] for one in shown["workers"]] == ["here"]
    assert shown["failures"] == []


def test_a_look_for_people_says_it_in_tables(haulwright, store):
    letter = bury(store, new_id())

    answer = haulwright("top", "--once")

    assert "workers 0  due 0  running 0" in answer.out
    assert "No live workers." in answer.out
    assert any(letter[-12:] in line and "dead_lettered" in line for line in answer.out.splitlines())


def test_without_a_terminal_each_look_follows_the_one_before_until_it_is_interrupted(process, sqlite_url, on_file):
    on_file("db", "migrate")
    watch = process("top", "--json", "--interval", "0.1 s", "--database", sqlite_url)

    looks = [json.loads(watch.stdout.readline()) for _ in range(3)]
    watch.send_signal(signal.SIGINT)
    _, told = watch.communicate(timeout=90)

    assert [list(one) for one in looks] == [KEYS] * 3
    assert (watch.returncode, told) == (0, "")
    assert looks[2]["throughput"]["seconds"] < 5  # since the look before


def test_a_look_makes_no_database_and_changes_none(on_file, tmp_path):
    answer = on_file("top", "--once")

    assert answer.code == 3
    assert "There is no Haulwright database" in answer.err
    assert not (tmp_path / "haulwright.db").exists()


def test_a_look_needs_no_app_and_an_interval_that_makes_sense(on_file):
    on_file("run", "-A", SHOP, "price", "sku=A1")

    assert on_file("top", "--once", "--json").json["queues"][0]["due"] == 1
    assert on_file("top", "--interval", "0 s").code == 2


@pytest.fixture
def terminal():
    """Both ends of a terminal: ours, and that of the command."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("end", ["q", "interrupt"])
def test_on_a_terminal_it_ends_cleanly_and_gives_the_screen_back(process, on_file, sqlite_url, terminal, end):
    ours, theirs = terminal
    on_file("run", "-A", SHOP, "price", "sku=A1")
    before = termios.tcgetattr(theirs)
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "extra": {"TERM": "xterm", "COLUMNS": "100"}}
    watch = process("top", "--interval", "0.2 s", "--database", sqlite_url, **ends)

    seen = read_until(ours, b"q ends this")
    os.write(ours, b"q") if end == "q" else watch.send_signal(signal.SIGINT)
    rest = read_until(ours, b"\x1b[?1049l")

    assert watch.wait(90) == 0
    assert b"due 1" in seen
    assert b"\x1b[?1049l" in rest
    assert termios.tcgetattr(theirs) == before


def read_until(terminal, text):
    seen, until = b"", time.monotonic() + 20
    while text not in seen and time.monotonic() < until:
        if select.select([terminal], [], [], 0.5)[0]:
            seen += os.read(terminal, 65536)
    return seen

"""The supervisor: workers that die, refuse, end, or are told to stop. Any program can be a worker."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import contextmanager

import pytest

from haulwright.runtime.loop import BROKEN_EXIT
from haulwright.runtime.supervisor import Supervisor
from haulwright.runtime.threads import LOST_THREADS_EXIT
from tests.runtime.waiting import eventually

DIARY = "import os, sys, time; file = open(sys.argv[1], 'a'); print(sys.argv[2], os.getpid(), file=file, flush=True); "
NTH = "nth = len(open(sys.argv[1]).readlines()); "
KILL = "os.kill(os.getpid(), 9)"


@pytest.fixture
def diary(tmp_path):
    """Where each worker writes its place and its process number when it starts."""
    (tmp_path / "diary").touch()
    return tmp_path / "diary"


@pytest.fixture
def supervise(diary, caplog):
    """Supervise workers that run this line of Python; what was told, as (message, facts), stands in `caplog`."""
    caplog.set_level(logging.INFO, "haulwright")

    def make(line, count=1, **options):
        return Supervisor(
            lambda number: [sys.executable, "-I", "-c", DIARY + NTH + line, str(diary), str(number)], count, **options
        )

    return make


def told(caplog, message):
    return [record.facts for record in caplog.records if message in record.getMessage()]


def starts(diary):
    return [line.split()[0] for line in diary.read_text().splitlines()]


@contextmanager
def meanwhile(act):
    """Do something in a thread while the supervisor has the main one."""
    thread = threading.Thread(target=act)
    thread.start()
    yield
    thread.join(20)


def signal_us(number=signal.SIGTERM):
    os.kill(os.getpid(), number)


def test_workers_that_end_by_themselves_end_the_whole(supervise, diary):
    supervisor = supervise("sys.exit(0)", 3, until_empty=True)

    assert supervisor.run() == 0
    assert sorted(starts(diary)) == ["1", "2", "3"]
    assert supervisor.restarts == 0


def test_a_worker_that_is_killed_is_started_again_after_a_growing_pause(supervise, diary, caplog):
    supervisor = supervise(f"{KILL} if nth < 3 else sys.exit(0)", until_empty=True)

    assert supervisor.run() == 0
    deaths = told(caplog, "a worker ended and will be started again")
    assert [(death["place"], death["pause_seconds"]) for death in deaths] == [(1, 0.5), (1, 1.0)]
    assert [str(death["pid"]) for death in deaths] == [line.split()[1] for line in diary.read_text().splitlines()][:2]
    assert "signal 9 (SIGKILL)" in deaths[0]["death"]


def test_a_worker_that_lived_long_is_started_again_after_the_first_pause(supervise, caplog, monkeypatch):
    monkeypatch.setattr("haulwright.runtime.supervisor.CALM_SECONDS", 0.0)
    supervise(f"{KILL} if nth < 3 else sys.exit(0)", until_empty=True).run()

    assert [death["pause_seconds"] for death in told(caplog, "a worker ended")] == [0.5, 0.5]


def test_a_worker_that_lost_its_threads_is_replaced_at_once(supervise, caplog):
    supervisor = supervise(f"sys.exit({LOST_THREADS_EXIT} if nth == 1 else 0)", until_empty=True)

    assert supervisor.run() == 0
    assert [death["pause_seconds"] for death in told(caplog, "a worker ended")] == [0.0]


def test_a_worker_that_was_broken_is_replaced_after_a_growing_pause(supervise, caplog):
    """What broke it may be in the machine, or in the app: at once would be too soon."""
    supervisor = supervise(f"sys.exit({BROKEN_EXIT} if nth < 3 else 0)", until_empty=True)

    assert supervisor.run() == 0
    assert [death["pause_seconds"] for death in told(caplog, "a worker ended")] == [0.5, 1.0]


@pytest.mark.parametrize("code", [2, 4, 69])
def test_workers_that_all_refuse_to_start_are_not_started_for_ever(supervise, diary, caplog, code):
    assert supervise(f"sys.exit({code})", 2).run() == code

    assert {"1", "2"} == set(starts(diary))
    assert told(caplog, "no worker can start")[0]["death"].endswith(f"exit code {code}")


def test_one_refusal_does_not_end_the_others(supervise, diary):
    """The database may have had no room for the second one."""
    first = "sys.argv[2] == '2' and sum(line.startswith('2') for line in open(sys.argv[1])) == 1"

    assert supervise(f"sys.exit(69) if {first} else time.sleep(0.5)", 2, until_empty=True).run() == 0
    assert starts(diary).count("2") == 2


def test_a_refusal_is_tried_again_once_a_worker_had_come_up(supervise, diary):
    """It worked before, so it may work again: a database that is away for a while comes back."""
    supervisor = supervise(f"{KILL} if nth == 1 else sys.exit(69 if nth == 2 else 0)", until_empty=True)

    assert supervisor.run() == 0
    assert len(starts(diary)) == 3


def test_another_worker_takes_the_place_of_one_that_stopped(supervise, diary, caplog):
    """Somebody told that one worker to stop, and nobody told the supervisor."""
    supervisor = supervise("sys.exit(0) if nth == 1 else time.sleep(60)")

    with meanwhile(lambda: (eventually(lambda: len(starts(diary)) == 2), signal_us())):
        assert supervisor.run() == 0
    assert told(caplog, "a worker ended")[0]["death"].endswith("exit code 0")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_each_signal_is_passed_on_once_to_every_worker(supervise, diary, number):
    """Two signals: workers take the first for a request, and the second for a hurry."""
    line = (
        "import signal; seen = []; note = lambda *_: (seen.append(1), print('told', 0, file=file, flush=True)); "
        f"signal.signal({int(number)}, note); print('ready', 0, file=file, flush=True)\n"
        "while len(seen) < 2: time.sleep(0.01)"
    )

    def twice():
        for count in (2, 4):
            eventually(lambda: starts(diary).count("ready") == 2)
            signal_us(number)
            eventually(lambda count=count: starts(diary).count("told") == count)

    with meanwhile(twice):
        assert supervise(line, 2).run() == 0
    assert starts(diary).count("told") == 4


def test_a_worker_that_fails_while_it_stops_gives_the_whole_its_code(supervise, diary):
    listen = "import signal; signal.signal(15, lambda *_: sys.exit(69)); "
    line = f"{listen} print('ready', file=file, flush=True); time.sleep(60)"

    with meanwhile(lambda: (eventually(lambda: "ready" in starts(diary)), signal_us())):
        assert supervise(line).run() == 69


def test_handlers_of_signals_are_given_back(supervise):
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    supervise("sys.exit(0)", until_empty=True).run()

    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before

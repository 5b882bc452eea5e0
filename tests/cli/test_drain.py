"""Waiting for a queue to be drained: what is waited for, what is not, and what is said when the time is up."""

from __future__ import annotations

import threading

import pytest

from haulwright.engine.ids import new_id
from haulwright.runtime.identity import this_process
from tests.cli.conftest import SHOP
from tests.stores.scenes import claim_one, new_job, settle


@pytest.fixture
def drain(haulwright):
    """Drain the queue of most tests, with a limit that no test means to reach."""
    return lambda *words: haulwright("queue", "drain", "default", "--timeout", "20 s", "--json", *words)


@pytest.fixture
def give_up(haulwright):
    """The same without patience."""
    return lambda *words: haulwright("queue", "drain", "default", "--timeout", "0 s", *words)


def test_a_queue_with_nothing_due_or_running_is_drained_at_once_whatever_is_parked(drain, store):
    store.jobs.enqueue([new_job(delay_us=10**10), new_job(queue="other")])

    answer = drain()

    assert answer.code == 0
    assert {**answer.json, "seconds": 0} == {
        "name": "default", "drained": True, "due": 0, "running": 0, "parked": 1, "seconds": 0,
    }  # fmt: skip


def test_a_drain_ends_when_workers_have_done_what_is_due(drain, store, process, database_url):
    store.jobs.enqueue([new_job(task="price", args='{"sku": "A1"}') for _ in range(3)])
    worker = process("worker", "-A", SHOP, "--until-empty", "--database", database_url)

    answer = drain()

    worker.communicate(timeout=90)
    assert (answer.code, answer.json["drained"]) == (0, True)
    assert store.queues.counts() == []


def test_a_running_job_is_waited_for(drain, store):
    store.jobs.enqueue([new_job()])
    lease = claim_one(store, new_id())
    later = threading.Timer(0.2, settle, [store, lease])
    later.start()

    answer = drain()

    later.join()
    assert answer.json["drained"] is True
    assert answer.json["seconds"] >= 0.1


@pytest.mark.parametrize("what", ["due", "running"])
def test_when_the_time_is_up_it_says_what_is_left_and_ends_with_75(give_up, store, what):
    store.jobs.enqueue([new_job(), new_job(delay_us=10**10)])
    if what == "running":
        claim_one(store, new_id())

    answer = give_up()

    assert answer.code == 75
    assert f"default: 1 left ({int(what == 'running')} running)" in answer.out
    assert "1 for later" in answer.out


def test_scheduled_jobs_are_waited_for_on_request(give_up, store):
    store.jobs.enqueue([new_job(delay_us=10**10)])

    assert give_up().code == 0
    assert give_up("--include-scheduled").code == 75


def test_with_pause_only_what_runs_is_waited_for_and_the_queue_stays_paused(give_up, store):
    store.jobs.enqueue([new_job(), new_job()])
    lease = claim_one(store, new_id())

    assert give_up("--pause").code == 75
    settle(store, lease)

    assert give_up("--pause").code == 0
    assert store.queues.paused("default")[2] == "drain"
    assert give_up("--pause", "--include-scheduled").code == 2


def test_what_would_make_the_wait_long_is_said(give_up, store):
    assert "No live worker serves the queue default." in give_up().err
    store.workers.register(this_process("w"), ["default"], [])
    assert give_up().err == ""

    store.queues.pause("default", actor="me", reason="")
    assert "is paused" in give_up().err


def test_now_and_then_it_says_how_far_it_is(haulwright, store, monkeypatch):
    """Every ten seconds in a log; here as soon as there is something to say."""
    monkeypatch.setattr("haulwright.cli.queues.LINE_EVERY_SECONDS", 0.0)
    store.jobs.enqueue([new_job(), new_job()])
    claim_one(store, new_id())

    told = haulwright("queue", "drain", "default", "--timeout", "0.1 s", "--json").err

    assert told.startswith("default: 2 left (1 running), 0.0/s, the oldest waits for ")

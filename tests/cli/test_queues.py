"""Queues, workers, events and settings from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from haulwright.engine.ids import new_id
from haulwright.events import QUEUE_PAUSED, WORKER_STARTED
from haulwright.operations.views.events import event_view
from haulwright.runtime.identity import this_process
from tests.cli.conftest import SHOP
from tests.stores.scenes import claim_one


def test_a_queue_is_counted_by_what_is_due_parked_and_running(haulwright, enqueue, store):
    store.workers.register(this_process("w"), ["default"], ["price"])
    for words in (["sku=A"], ["sku=B"], ["sku=C", "--delay", "1 h"]):
        enqueue("price", *words)
    claim_one(store, new_id())

    (queue,) = haulwright("queue", "list", "--json").json["queues"]

    assert (queue["due"], queue["parked"], queue["running"], queue["workers"]) == (1, 1, 1, 1)


def test_a_paused_queue_says_by_whom_and_why_and_nothing_is_claimed_from_it(haulwright, enqueue):
    enqueue("price", "sku=A1")
    assert haulwright("queue", "pause", "default", "--reason", "lunch", "--json").json["changed"] is True

    (queue,) = haulwright("queue", "list", "--json").json["queues"]
    assert (queue["reason"], queue["paused_by"].startswith("admin:cli:")) == ("lunch", True)
    assert haulwright("worker", "-A", SHOP, "--once").code == 6

    assert haulwright("queue", "resume", "default", "--json").json["changed"] is True
    assert haulwright("worker", "-A", SHOP, "--once").code == 0


def test_live_workers_are_listed_and_the_others_on_request(haulwright, store):
    store.workers.register(this_process("alive"), ["a", "b"], [])
    store.workers.register(gone := this_process("gone"), ["a"], [])
    store.workers.stopped(gone, 0)

    assert [one["name"] for one in haulwright("workers", "--json").json["workers"]] == ["alive"]
    assert {one["name"] for one in haulwright("workers", "--all", "--json").json["workers"]} == {"alive", "gone"}
    assert "a,b" in haulwright("workers").out


def test_events_are_listed_by_name_the_oldest_first(haulwright):
    for queue in ("a", "b"):
        haulwright("queue", "pause", queue)

    found = haulwright("event", "list", "--name", QUEUE_PAUSED, "--json").json["events"]

    assert [one["data"]["queue"] for one in found] == ["a", "b"]
    assert " ".join(found[0]) == "name at tenant job_id attempt fence worker actor data seq"


def test_the_timeline_of_a_job_has_what_its_row_tells(haulwright, enqueue, work):
    job_id = enqueue("price", "sku=A1")
    work()

    found = haulwright("event", "list", "--job", job_id, "--json").json["events"]

    assert [one["name"] for one in found] == ["job.queued", "job.started", "job.completed"]


def test_tail_begins_with_the_newest_and_prints_one_object_a_line(haulwright, store):
    for queue in ("a", "b", "c"):
        haulwright("queue", "pause", queue)

    answer = haulwright("event", "tail", "--last", "2", "--for", "1 ms", "--json")

    assert len(answer.out.splitlines()) == 2
    assert answer.out.splitlines()[-1].startswith('{"name": "queue.paused"')
    assert event_view(store.events.latest(limit=1)[0])["data"]["queue"] == "c"


def test_tail_goes_on_after_an_event(haulwright, store):
    for queue in ("a", "b", "c"):
        haulwright("queue", "pause", queue)
    first, *_ = store.events.latest(name=QUEUE_PAUSED)

    answer = haulwright("event", "tail", "--after", str(first.seq), "--for", "1 ms", "--json")

    assert [json.loads(line)["data"]["queue"] for line in answer.out.splitlines()] == ["b", "c"]


def test_tail_tells_what_is_committed_while_it_looks(process, haulwright, database_url):
    tail = process("event", "tail", "--last", "0", "--for", "20 s", "--database", database_url)
    try:
        for queue in range(100):
            haulwright("queue", "pause", f"q{queue}")
            if _has_line(tail):
                break
        told = tail.stdout.readline()
    finally:
        tail.kill()
        tail.communicate()

    assert " queue.paused tenant=default by=admin:cli:" in told


@pytest.mark.parametrize(
    "words",
    [["list", "--limit", "0"], ["list", "--name", "job.flew"], ["tail", "--last", "-1"], ["tail", "--after", "9"]],
)
def test_events_that_cannot_be_are_refused(on_made_file, words):
    assert on_made_file("event", *words).code == 2


def test_settings_show_every_value_and_its_origin_and_no_password(bare, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:hunter22@host/db?sslpassword=hunter23")
    monkeypatch.setenv("WORKER_ID", "w7")
    Path("pyproject.toml").write_text("[tool.haulwright]\nconcurrency = 3\n")

    answer = bare("settings", "--json", "-A", "x:y")

    found = {one["name"]: one for one in answer.json["settings"]}
    assert (found["database_url"]["value"], found["database_url"]["origin"]) == (
        "postgresql://***@host/db",
        "DATABASE_URL",
    )
    assert (found["worker_name"]["value"], found["worker_name"]["origin"]) == ("w7", "WORKER_ID")
    assert (found["concurrency"]["value"], Path(found["concurrency"]["origin"]).name) == (3, "pyproject.toml")
    assert (found["app"]["value"], found["app"]["origin"]) == ("x:y", "--app")
    assert found["grace_seconds"]["origin"] == "default"
    assert "hunter2" not in answer.out


@pytest.mark.parametrize(
    "words",
    [
        ("brand", "add", "Ardish", "--tenant", "acme"),
        ("brief", "add", "https://news.example/feed"),
        ("doc", "add", "https://library.example/report.pdf", "--tenant", "acme"),
        ("price", "add", "Ardish crown", "--tenant", "acme"),
        ("sync", "plan", "growth", "--tenant", "acme"),
    ],
)
def test_the_first_use_of_a_file_by_an_application_says_that_it_was_made(on_file, words):
    first, second = on_file(*words), on_file(*words)

    assert first.code == 0, first.err
    assert "A new database was made" in first.err
    assert "A new database was made" not in second.err


def test_a_worker_that_starts_is_an_event(haulwright, work):
    work()

    assert len(haulwright("event", "list", "--name", WORKER_STARTED, "--json").json["events"]) == 1


def _has_line(process) -> bool:
    import select  # noqa: PLC0415 - only here

    return bool(select.select([process.stdout], [], [], 0.05)[0])

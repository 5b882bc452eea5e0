"""Looking at jobs, asking why, cancelling."""

from __future__ import annotations

import re

import pytest

from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import Snooze
from tests.stores.scenes import claim, claim_one, fail, new_job, settle


def test_a_list_goes_on_where_the_page_before_ended(haulwright, enqueue):
    ids = [enqueue("price", f"sku={name}") for name in "ABC"]

    first = haulwright("job", "list", "--limit", "2", "--json").json
    rest = haulwright("job", "list", "--after", first["next"], "--json").json

    assert [job["id"] for job in first["jobs"] + rest["jobs"]] == ids[::-1]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "words",
    [
        ["--queue", "slow"],
        ["--task", "fetch"],
        ["--tenant", "acme"],
        ["--tag", "special"],
        ["--where", "correlation_id:ticket-1"],
        ["--where", "task:fetch", "--state", "queued"],
        ["--where", "-task:price", "--where", "age:<1h"],
        ["--where", "args.url:x"],
    ],
)
def test_a_list_is_narrowed_by_a_filter(haulwright, enqueue, words):
    enqueue("price", "sku=A1")
    wanted = enqueue("fetch", "url=x", "--tenant", "acme", "--tag", "special", "--correlation-id", "ticket-1")

    found = haulwright("job", "list", *words, "--json").json["jobs"]

    assert [job["id"] for job in found] == [wanted]


def test_dead_letters_are_found_by_their_error_code(haulwright, dead, enqueue):
    letter = dead()
    enqueue("price", "sku=A1")

    found = haulwright("job", "list", "--error-code", "value_error", "--json").json["jobs"]

    assert [job["id"] for job in found] == [letter]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--where", "colour:red"], "no field to filter by"),
        (["--where", "task=a"], "Write task:a"),
        (["--where", "task:a", "--task", "b"], "a second time"),
        (["--where", "created_after:yesterday"], "is no time"),
        (["--where", "created_after:2024-01-01T00:00:00"], "no time zone"),
        (["--where", "state:sleeping"], "is no state"),
        (["--state", "sleeping"], "not one of"),
        (["--limit", "0"], "not in the range 1<=x<=1000"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(on_file, words, told):
    answer = on_file("job", "list", *words)

    assert answer.code == 2
    assert told in answer.err


@pytest.mark.proves("ME-03")
def test_the_latest_jobs_are_shown_with_holder_heartbeat_times_and_error(haulwright, dead):
    dead()

    header, row = haulwright("job", "list").out.splitlines()

    for column in ("attempts", "created", "finished", "holder", "heartbeat", "error"):
        assert column in header
    assert "no such thing" in row


@pytest.mark.proves("ME-05")
def test_stuck_jobs_are_shown_with_the_time_since_their_heartbeat(haulwright, clock, store):
    store.jobs.enqueue([new_job(id=(stuck := new_id())), new_job(), new_job()])
    claim_one(store, new_id())
    clock.advance(119)
    claim_one(store, new_id())
    clock.advance(60)

    answer = haulwright("job", "list", "--stuck")

    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == [stuck]
    assert "2 min 59 s ago" in answer.out


def test_a_retry_is_shown_as_such_and_says_when(haulwright, clock, enqueue, work):
    job_id = enqueue("fetch", "url=x")
    work()
    clock.advance(60)

    assert " retrying " in haulwright("job", "list").out
    assert haulwright("job", "list", "--state", "retrying", "--json").json["jobs"][0]["id"] == job_id
    assert "in 59 min" in haulwright("job", "list").out
    assert haulwright("job", "list", "--state", "queued", "--json").json["jobs"][0]["id"] == job_id


def test_why_says_that_no_worker_is_there_and_what_to_type(haulwright, enqueue, typable_url):
    answer = haulwright("job", "why", enqueue("price", "sku=A1"))

    assert answer.out == "no live worker serves the queue 'default'\n"
    assert answer.err == f"Next: haulwright -A MODULE:APP --database {typable_url} worker --queues default\n"


def test_a_waiting_job_is_cancelled_at_once(haulwright, enqueue):
    job_id = enqueue("price", "sku=A1")

    answer = haulwright("job", "cancel", job_id, "--reason", "not needed", "--json")

    assert answer.json == {"id": job_id, "state": "cancelled"}
    assert haulwright("job", "show", job_id, "--json").json["reason"] == "not needed"
    assert haulwright("job", "cancel", job_id).code == 4


def test_a_running_job_is_asked_to_stop(haulwright, enqueue, store):
    job_id = enqueue("price", "sku=A1")
    claim_one(store, new_id())

    assert "asked to stop" in haulwright("job", "cancel", job_id).out


@pytest.mark.parametrize("verb", ["show", "why", "cancel", "retry"])
@pytest.mark.parametrize("job_id", ["nonsense", "018f2f6e-7c1a-7abc-8def-0123456789ab"])
def test_an_id_that_names_no_job_is_not_found(haulwright, verb, job_id):
    answer = haulwright("job", verb, job_id)

    assert answer.code == 3
    assert "There is no job" in answer.err


def test_a_page_after_something_that_is_no_cursor_is_refused(haulwright):
    assert haulwright("job", "list", "--after", "nonsense").code == 2


def test_retry_gives_a_dead_job_another_life(haulwright, dead):
    letter = dead()

    made = haulwright("job", "retry", letter, "--json").json

    assert haulwright("job", "show", made["id"], "--json").json["requeued_from"] == letter
    assert haulwright("job", "retry", letter).code == 4


def test_retry_makes_a_job_that_waits_for_its_next_attempt_due_at_once(haulwright, enqueue, work):
    job_id = enqueue("fetch", "url=x")
    work()
    assert haulwright("job", "why", job_id, "--json").json["code"] != "due"

    answer = haulwright("job", "retry", job_id, "--reason", "the server is back", "--json")

    assert answer.json == {"id": job_id, "requeued_from": None, "changed": True}
    work()
    job = haulwright("job", "show", job_id, "--json").json
    assert job["attempts"] == 2
    (told,) = [event for event in job["events"] if event["data"].get("reason") == "the server is back"]
    assert (told["name"], told["data"]["delay_seconds"], told["actor"][:10]) == ("job.retry", 0, "admin:cli:")


def test_retry_makes_a_job_due_that_was_planned_for_later_or_waits_at_a_gate(haulwright, enqueue, store):
    later = enqueue("price", "sku=A1", "--delay", "1 h")
    assert haulwright("job", "retry", later).out == "It is due now.\n"
    gated = claim_one(store, new_id())
    settle(store, gated, Snooze(3600, "source:shop"))

    assert haulwright("job", "retry", gated.id).code == 0
    job = haulwright("job", "show", gated.id, "--json").json
    assert (job["waiting_on"], job["attempts"]) == (None, 0)
    assert claim_one(store, new_id()).id == later


def test_retry_leaves_alone_what_is_due_and_refuses_what_runs_or_is_done(haulwright, enqueue, store):
    job_id = enqueue("price", "sku=A1")
    assert haulwright("job", "retry", job_id, "--json").json["changed"] is False

    lease = claim_one(store, new_id())
    assert "is running" in haulwright("job", "retry", job_id).err
    settle(store, lease)
    answer = haulwright("job", "retry", job_id)

    assert (answer.code, "is succeeded" in answer.err) == (4, True)


def test_utc_shows_the_times_themselves(haulwright, clock, enqueue):
    assert clock.now() % SECOND == 0
    enqueue("price", "sku=A1")

    assert "2024-01-01T00:00:00Z" in haulwright("job", "list", "--utc").out
    assert "now" in haulwright("job", "list").out


def test_an_error_of_the_past_is_shown_with_the_job_and_not_in_the_list(haulwright, clock, store):
    """What ended well after it is no news; what a job waits for is."""
    store.jobs.enqueue([new_job(id=(done := new_id())), new_job(id=(waiting := new_id()), delay_us=5)])
    fail(store, claim_one(store, new_id()))
    clock.advance(3600)
    leases = {lease.id: lease for lease in claim(store, new_id(), 2)}
    settle(store, leases[done])
    settle(store, leases[waiting], Snooze(60, "source:shop:rate"))

    rows = {line.split()[0]: line for line in haulwright("job", "list").out.splitlines()[1:]}

    assert "it went wrong" not in rows[done]
    assert "source:shop:rate" in rows[waiting]
    assert "it went wrong" in haulwright("job", "show", done).out


def test_a_job_is_shown_with_the_lines_of_code_behind_its_error(haulwright, dead):
    job_id = dead()

    shown = haulwright("job", "show", job_id)
    (frame,) = haulwright("job", "show", job_id, "--json").json["error"]["frames"]

    assert f"The last error came through:\n  tests/cli/shop.py:{frame['line']} in price\n" in shown.out
    assert (frame["file"], frame["function"], frame["cause"]) == ("tests/cli/shop.py", "price", None)


def test_events_have_the_time_of_day_beside_their_age(on_file):
    on_file("run", "-A", "tests.cli.shop:app", "price", "sku=A1")

    header, row = on_file("event", "list", "--name", "job.queued").out.splitlines()

    assert header.split()[:2] == ["when", "utc"]
    assert re.search(r" \d\d:\d\d:\d\d ", row)

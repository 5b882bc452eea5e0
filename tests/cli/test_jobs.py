"""Looking at jobs, asking why, cancelling."""

from __future__ import annotations

import pytest

from penstock.client.desk import Desk
from penstock.client.principal import Principal
from penstock.clock import SECOND
from penstock.engine.ids import new_id
from penstock.engine.outcome import Snooze
from penstock.errors import NotFound
from tests.stores.scenes import claim_one, new_job, settle


def test_a_list_goes_on_where_the_page_before_ended(penstock, enqueue):
    ids = [enqueue("price", f"sku={name}") for name in "ABC"]

    first = penstock("job", "list", "--limit", "2", "--json").json
    rest = penstock("job", "list", "--after", first["next"], "--json").json

    assert [job["id"] for job in first["jobs"] + rest["jobs"]] == ids[::-1]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "words",
    [
        ["--queue", "slow"],
        ["--task", "fetch"],
        ["--tenant", "acme"],
        ["--tag", "special"],
        ["--where", "correlation_id=ticket-1"],
        ["--where", "task=fetch", "--state", "queued"],
    ],
)
def test_a_list_is_narrowed_by_a_filter(penstock, enqueue, words):
    enqueue("price", "sku=A1")
    wanted = enqueue("fetch", "url=x", "--tenant", "acme", "--tag", "special", "--correlation-id", "ticket-1")

    found = penstock("job", "list", *words, "--json").json["jobs"]

    assert [job["id"] for job in found] == [wanted]


def test_dead_letters_are_found_by_their_error_code(penstock, dead, enqueue):
    letter = dead()
    enqueue("price", "sku=A1")

    found = penstock("job", "list", "--error-code", "value_error", "--json").json["jobs"]

    assert [job["id"] for job in found] == [letter]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--where", "colour=red"], "no field to filter by"),
        (["--where", "task"], "not of the form name=value"),
        (["--where", "task=a", "--task", "b"], "a second time"),
        (["--where", "created_after=yesterday"], "is no time"),
        (["--where", "created_after=2024-01-01T00:00:00"], "no time zone"),
        (["--where", "state=sleeping"], "is no state"),
        (["--state", "sleeping"], "not one of"),
        (["--limit", "0"], "not between 1 and 1000"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(on_file, words, told):
    answer = on_file("job", "list", *words)

    assert answer.code == 2
    assert told in answer.err


@pytest.mark.proves("ME-03")
def test_the_latest_jobs_are_shown_with_holder_heartbeat_times_and_error(penstock, dead):
    dead()

    header, row = penstock("job", "list").out.splitlines()

    for column in ("attempts", "created", "finished", "holder", "heartbeat", "error"):
        assert column in header
    assert "no such thing" in row


@pytest.mark.proves("ME-05")
def test_stuck_jobs_are_shown_with_the_time_since_their_heartbeat(penstock, clock, store):
    store.jobs.enqueue([new_job(id=(stuck := new_id())), new_job(), new_job()])
    claim_one(store, new_id())
    clock.advance(119)
    claim_one(store, new_id())
    clock.advance(60)

    answer = penstock("job", "list", "--stuck")

    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == [stuck]
    assert "2 min 59 s ago" in answer.out


def test_a_retry_is_shown_as_such_and_says_when(penstock, clock, enqueue, work):
    job_id = enqueue("fetch", "url=x")
    work()
    clock.advance(60)

    assert " retrying " in penstock("job", "list").out
    assert "in 59 min" in penstock("job", "list").out
    assert penstock("job", "list", "--state", "queued", "--json").json["jobs"][0]["id"] == job_id


def test_why_says_that_no_worker_is_there_and_what_to_type(penstock, enqueue):
    answer = penstock("job", "why", enqueue("price", "sku=A1"))

    assert answer.out == "no live worker serves the queue 'default'\n"
    assert answer.err == "Next: penstock worker --queues default\n"


def test_a_waiting_job_is_cancelled_at_once(penstock, enqueue):
    job_id = enqueue("price", "sku=A1")

    answer = penstock("job", "cancel", job_id, "--reason", "not needed", "--json")

    assert answer.json == {"id": job_id, "state": "cancelled"}
    assert penstock("job", "show", job_id, "--json").json["reason"] == "not needed"
    assert penstock("job", "cancel", job_id).code == 4


def test_a_running_job_is_asked_to_stop(penstock, enqueue, store):
    job_id = enqueue("price", "sku=A1")
    claim_one(store, new_id())

    assert "asked to stop" in penstock("job", "cancel", job_id).out


@pytest.mark.parametrize("verb", ["show", "why", "cancel", "retry"])
@pytest.mark.parametrize("job_id", ["nonsense", "018f2f6e-7c1a-7abc-8def-0123456789ab"])
def test_an_id_that_names_no_job_is_not_found(penstock, verb, job_id):
    answer = penstock("job", verb, job_id)

    assert answer.code == 3
    assert "There is no job" in answer.err


def test_a_page_after_something_that_is_no_id_is_not_found(penstock):
    assert penstock("job", "list", "--after", "nonsense").code == 3


def test_retry_gives_a_dead_job_another_life(penstock, dead):
    letter = dead()

    made = penstock("job", "retry", letter, "--json").json

    assert penstock("job", "show", made["id"], "--json").json["requeued_from"] == letter
    assert penstock("job", "retry", letter).code == 4


def test_retry_makes_a_job_that_waits_for_its_next_attempt_due_at_once(penstock, enqueue, work):
    job_id = enqueue("fetch", "url=x")
    work()
    assert penstock("job", "why", job_id, "--json").json["code"] != "due"

    answer = penstock("job", "retry", job_id, "--reason", "the server is back", "--json")

    assert answer.json == {"id": job_id, "requeued_from": None, "changed": True}
    work()
    job = penstock("job", "show", job_id, "--json").json
    assert job["attempts"] == 2
    (told,) = [event for event in job["events"] if event["data"].get("reason") == "the server is back"]
    assert (told["name"], told["data"]["delay_seconds"], told["actor"][:10]) == ("job.retry", 0, "admin:cli:")


def test_retry_makes_a_job_due_that_was_planned_for_later_or_waits_at_a_gate(penstock, enqueue, store):
    later = enqueue("price", "sku=A1", "--delay", "1 h")
    assert penstock("job", "retry", later).out == "It is due now.\n"
    gated = claim_one(store, new_id())
    settle(store, gated, Snooze(3600, "source:shop"))

    assert penstock("job", "retry", gated.id).code == 0
    job = penstock("job", "show", gated.id, "--json").json
    assert (job["waiting_on"], job["attempts"]) == (None, 0)
    assert claim_one(store, new_id()).id == later


def test_retry_leaves_alone_what_is_due_and_refuses_what_runs_or_is_done(penstock, enqueue, store):
    job_id = enqueue("price", "sku=A1")
    assert penstock("job", "retry", job_id, "--json").json["changed"] is False

    lease = claim_one(store, new_id())
    assert "is running" in penstock("job", "retry", job_id).err
    settle(store, lease)
    answer = penstock("job", "retry", job_id)

    assert (answer.code, "is succeeded" in answer.err) == (4, True)


def test_a_tenant_hurries_its_own_jobs_and_sees_no_others(enqueue, store):
    job_id = enqueue("price", "sku=A1", "--delay", "1 h", "--tenant", "acme")

    with pytest.raises(NotFound):
        Desk(store, Principal.of_tenant("globex", "user")).retry(job_id)
    assert store.listing.get(job_id).run_at > store.now()

    assert Desk(store, Principal.of_tenant("acme", "user")).retry(job_id)


def test_utc_shows_the_times_themselves(penstock, clock, enqueue):
    assert clock.now() % SECOND == 0
    enqueue("price", "sku=A1")

    assert "2024-01-01T00:00:00Z" in penstock("job", "list", "--utc").out
    assert "now" in penstock("job", "list").out

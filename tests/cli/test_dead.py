"""Dead letters from the command line."""

from __future__ import annotations

import pytest

from penstock.events import JOB_REQUEUED


@pytest.mark.proves("DL-04")
def test_dead_letters_are_counted_by_tenant_and_error_code(penstock, dead):
    dead("--tenant", "acme")
    dead("--tenant", "acme")
    dead("--tenant", "globex")

    counts = penstock("dead", "counts", "--json").json["counts"]

    assert counts == [
        {"tenant": "acme", "error_code": "value_error", "count": 2},
        {"tenant": "globex", "error_code": "value_error", "count": 1},
    ]
    assert penstock("dlq", "counts", "--tenant", "globex", "--json").json["counts"] == counts[1:]


@pytest.mark.proves("DL-02", "LG-05")
def test_a_requeue_makes_a_new_job_that_carries_the_ticket(penstock, dead):
    letter = dead()

    words = ("--reason", "ticket 4711", "--correlation-id", "ticket-4711", "--json")
    (made,) = penstock("dead", "requeue", letter, *words).json["requeued"]

    job = penstock("job", "show", made["id"], "--json").json
    assert (job["requeued_from"], job["correlation_id"], job["state"]) == (letter, "ticket-4711", "queued")
    assert penstock("dead", "list", "--json").json["jobs"] == []
    assert [one["id"] for one in penstock("dead", "list", "--requeued", "--json").json["jobs"]] == [letter]


def test_a_requeue_records_who_and_why(penstock, dead):
    penstock("dead", "requeue", dead(), "--reason", "the shop is back")

    (told,) = penstock("event", "list", "--name", JOB_REQUEUED, "--json").json["events"]

    assert told["actor"].startswith("admin:cli:")
    assert told["data"]["reason"] == "the shop is back"


def test_a_dead_letter_is_requeued_only_once(penstock, dead):
    letter = dead()
    penstock("dead", "requeue", letter)

    answer = penstock("dead", "requeue", letter)

    assert answer.code == 4
    assert "was requeued already" in answer.err


def test_of_several_the_good_ones_are_requeued_and_the_others_told(penstock, dead, enqueue):
    letter, waiting = dead(), enqueue("price", "sku=A1")

    answer = penstock("dead", "requeue", waiting, letter, "--json")

    assert answer.code == 4
    assert [one["requeued_from"] for one in answer.json["requeued"]] == [letter]
    assert [one["id"] for one in answer.json["refused"]] == [waiting]


def test_a_bulk_requeue_can_be_looked_at_first(penstock, dead):
    letter = dead()
    dead("--tenant", "acme")

    answer = penstock("dead", "requeue", "--all", "--tenant", "default", "--dry-run", "--json")

    assert answer.json == {"would_requeue": [letter]}
    assert len(penstock("dead", "list", "--json").json["jobs"]) == 2


def test_a_bulk_requeue_asks_or_wants_yes(penstock, dead):
    dead()

    refused = penstock("dead", "requeue", "--all")
    done = penstock("dead", "requeue", "--all", "--error-code", "value_error", "--yes", "--json")

    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert len(done.json["requeued"]) == 1


def test_fresh_says_what_may_be_repeated(penstock, dead):
    letter = dead()

    answer = penstock("dead", "requeue", letter, "--fresh", "--json")

    assert "may happen again" in answer.err
    new = penstock("job", "show", answer.json["requeued"][0]["id"], "--json").json
    assert new["job_key"] == new["id"] != letter


@pytest.mark.proves("DL-03")
def test_support_sees_only_the_tenant_that_it_acts_for(penstock, dead):
    letter = dead("--tenant", "acme")
    as_support = ("--as-support", "alice", "--reason", "ticket 1")

    foreign = penstock("dead", "requeue", letter, *as_support, "--tenant", "globex")
    own = penstock("dead", "requeue", letter, *as_support, "--tenant", "acme")

    assert (foreign.code, own.code) == (3, 0)
    (told,) = penstock("event", "list", "--name", JOB_REQUEUED, "--json").json["events"]
    assert told["actor"] == "support:alice"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--as-support", "alice", "--tenant", "acme"],
        ["--as-support", "alice", "--reason", "x"],
        ["--task", "price"],
    ],
)
def test_an_unclear_requeue_is_refused(penstock, dead, words):
    letter = dead()
    chosen = [letter] if words else []

    assert penstock("dead", "requeue", *chosen, *words).code == 2
    assert len(penstock("dead", "list", "--json").json["jobs"]) == 1

"""The JSON that programs rely on: its keys, their order, and the envelope of errors."""

from __future__ import annotations

import re

JOB_KEYS = (
    "id tenant task queue state reason priority args attempts max_attempts deferrals losses fence job_key source "
    "waiting_on unique_key correlation_id tags headers requeued_from stage progress run_at deadline_at lease_owner "
    "leased_at heartbeat_at lease_expires_at created_at updated_at started_at finished_at error result"
)
ISO_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")


def test_a_job_has_exactly_the_documented_keys_in_their_order(haulwright, enqueue):
    enqueue("price", "sku=A1")

    page = haulwright("job", "list", "--json").json

    assert list(page) == ["jobs", "next"]
    assert " ".join(page["jobs"][0]) == JOB_KEYS


def test_job_show_adds_events_effects_and_why(haulwright, enqueue, work):
    job_id = enqueue("price", "sku=A1", "amount=3")
    work()

    shown = haulwright("job", "show", job_id, "--json").json

    assert " ".join(shown) == f"{JOB_KEYS} events events_next effects effects_next why"
    assert [event["name"] for event in shown["events"]] == ["job.queued", "job.started", "job.completed"]
    assert [(effect["name"], effect["state"], effect["result"]) for effect in shown["effects"]] == [("ask", "done", 2)]
    assert shown["why"] == {"code": "succeeded", "sentence": "it is done", "next_step": ""}


def test_values_are_json_and_times_are_iso_in_utc(haulwright, enqueue, work):
    enqueue("price", "sku=A1", "amount=3", "--tag", "x")
    work()

    (job,) = haulwright("job", "list", "--json").json["jobs"]

    assert (job["args"], job["result"], job["tags"]) == ({"sku": "A1", "amount": 3}, {"cents": 6}, ["prices", "x"])
    assert all(ISO_UTC.fullmatch(job[key]) for key in ("run_at", "created_at", "started_at", "finished_at"))


def test_the_error_of_a_job_has_class_code_message_and_frames(haulwright, dead):
    job_id = dead()

    error = haulwright("job", "show", job_id, "--json").json["error"]

    frames = error.pop("frames")
    assert error == {"class": "ValueError", "code": "value_error", "message": "no such thing"}
    assert [(frame["file"], frame["function"], frame["cause"]) for frame in frames] == [
        ("tests/cli/shop.py", "price", None)
    ]


def test_an_error_is_an_envelope_on_stderr_and_nothing_on_stdout(on_file):
    answer = on_file("job", "show", "nonsense", "--json")

    assert (answer.code, answer.out) == (3, "")
    assert list(answer.error) == ["code", "message", "hint"]
    assert answer.error["code"] == "not_found"


def test_a_mistyped_command_is_an_envelope_too(bare):
    answer = bare("jbo", "list", "--json")

    assert (answer.code, answer.error["code"]) == (2, "usage")
    assert "Did you mean 'job'?" in answer.error["message"]


def test_the_common_options_may_stand_before_the_command(bare, on_file, sqlite_url):
    on_file("db", "migrate")

    assert bare("--json", "--database", sqlite_url, "job", "list").json == {"jobs": [], "next": None}

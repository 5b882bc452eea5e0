"""Enqueueing from the command line."""

from __future__ import annotations

import pytest

from tests.cli.conftest import SHOP


def test_run_prints_the_id_and_says_that_nobody_serves_the_queue(haulwright):
    answer = haulwright("run", "-A", SHOP, "price", "sku=A1")

    assert haulwright("job", "show", answer.out.strip(), "--json").json["args"] == {"sku": "A1", "amount": 1}
    assert "no live worker serves the queue 'default'" in answer.err


@pytest.mark.parametrize(
    ("words", "args"),
    [
        (["sku=A1", "amount=3"], {"sku": "A1", "amount": 3}),
        (["sku=007"], {"sku": "007", "amount": 1}),
        (["sku=123", "amount=4"], {"sku": "123", "amount": 4}),
        (["sku=true"], {"sku": "true", "amount": 1}),
        (["sku=NaN"], {"sku": "NaN", "amount": 1}),
        (["sku=a=b"], {"sku": "a=b", "amount": 1}),
        (['sku="quoted"'], {"sku": "quoted", "amount": 1}),
    ],
)
def test_values_are_json_where_the_task_wants_it_and_text_where_it_wants_text(on_file, words, args):
    job_id = on_file("run", "-A", SHOP, "price", *words).out.strip()

    assert on_file("job", "show", job_id, "--json").json["args"] == args


def test_an_object_is_given_as_json(on_file):
    job_id = on_file("run", "-A", SHOP, "fetch", "url=x", 'headers={"Accept": "text/html"}').out.strip()

    assert on_file("job", "show", job_id, "--json").json["args"]["headers"] == {"Accept": "text/html"}


def test_every_option_of_a_call_reaches_the_job(haulwright, clock):
    words = ("--tenant", "acme", "--queue", "slow", "--priority", "7", "--delay", "2 min", "--correlation-id", "c-1")
    job_id = haulwright("run", "-A", SHOP, "price", "sku=A1", *words, "--tag", "a", "--tag", "b").out.strip()

    job = haulwright("job", "show", job_id, "--json").json

    assert (job["tenant"], job["queue"], job["priority"], job["correlation_id"]) == ("acme", "slow", 7, "c-1")
    assert (job["tags"], job["run_at"]) == (["a", "b", "prices"], "2024-01-01T00:02:00Z")
    assert clock.now() == 1_704_067_200_000_000


def test_headers_travel_with_the_job(haulwright):
    words = ("--header", "traceparent=00-0af7-b7ad-01", "--header", "query=a=b")
    job_id = haulwright("run", "-A", SHOP, "price", "sku=A1", *words).out.strip()

    assert haulwright("job", "show", job_id, "--json").json["headers"] == {
        "traceparent": "00-0af7-b7ad-01",
        "query": "a=b",
    }


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        (["hunter2"], "--header: number 1 is not of the form name=value."),
        (["a=b", "=hunter2"], "--header: number 2 is not of the form name=value."),
        (["a=hunter2", "a=hunter2"], "--header: 'a' is given a second time."),
        (["a\tb=hunter2"], "headers: has a name that is not printable text."),
        ([f"name-{number}=hunter2" for number in range(33)], "headers: has more than 32 names."),
        (["a=" + "hunter2" * 600], "headers: is larger than 4096 bytes."),
    ],
)
def test_a_header_that_is_refused_is_not_quoted_and_nothing_is_enqueued(on_made_file, headers, sentence):
    words = [word for header in headers for word in ("--header", header)]
    answer = on_made_file("run", "-A", SHOP, "price", "sku=A1", *words)

    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert "hunter2" not in answer.err
    assert on_made_file("job", "list", "--json").json["jobs"] == []


def test_an_argument_that_is_given_twice_is_named_without_its_values(on_file):
    answer = on_file("run", "-A", SHOP, "price", "sku=A1", "sku=hunter2")

    assert answer.code == 2
    assert "argument: 'sku' is given a second time." in answer.err
    assert "hunter2" not in answer.err


def test_a_job_in_a_new_file_says_that_it_was_made(on_file):
    assert "A new database was made" in on_file("run", "-A", SHOP, "price", "sku=A1").err
    assert "A new database was made" not in on_file("run", "-A", SHOP, "price", "sku=A1").err


def test_a_planned_job_is_made_once(haulwright):
    first = haulwright("run", "-A", SHOP, "price", "sku=A1", "--key", "plan-1", "--json").json
    second = haulwright("run", "-A", SHOP, "price", "sku=A1", "--key", "plan-1", "--json").json
    other = haulwright("run", "-A", SHOP, "price", "sku=A2", "--key", "plan-1", "--json")

    assert (first["created"], second["created"], first["id"]) == (True, False, second["id"])
    assert (other.code, other.error["code"]) == (4, "duplicate_mismatch")


def test_waiting_prints_the_result(haulwright, work):
    words = ("run", "-A", SHOP, "price", "sku=A1", "amount=5", "--key", "k")
    haulwright(*words)
    work()

    assert haulwright(*words, "--wait").out == '{"cents":10}\n'
    assert haulwright(*words, "--wait", "--json").json["result"] == {"cents": 10}


def test_waiting_for_a_job_that_fails_ends_with_1(haulwright, work):
    words = ("run", "-A", SHOP, "price", "sku=bad", "--key", "k")
    haulwright(*words)
    work()

    answer = haulwright(*words, "--wait")

    assert answer.code == 1
    assert "no such thing" in answer.err


def test_waiting_no_longer_than_asked_ends_with_75(haulwright, typable_url):
    answer = haulwright("run", "-A", SHOP, "price", "sku=A1", "--wait", "--timeout", "20 ms")

    assert answer.code == 75
    assert f"haulwright -A {SHOP} --database {typable_url} job why " in answer.err


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ('value={"a\\u0000": 1}', "args.value: has a key with a NUL character"),
        ('value=["a\\u0000"]', "args.value[0]: contains a NUL character"),
        ('value="\\ud800"', "args.value: contains half of a surrogate pair"),
        ("value=12345678901234567890", "args.value: is an integer beyond 64 bits"),
        ("value=" + "1" * 5_000, "args.value: is not a finite number"),
        ("value=1e400", "args.value: is not a finite number"),
        ("value=" + DEEP, "is more than 100 levels deep"),
    ],
)
def test_json_that_cannot_be_stored_is_refused_and_never_becomes_text(on_file, word, why):
    answer = on_file("run", "-A", SHOP, "keep", word)

    assert (answer.code, answer.out) == (2, "")
    assert why in answer.err


@pytest.mark.parametrize("text", ["12345678901234567890", "1" * 5_000, "1e400", DEEP, '{"a\\u0000": 1}'])
def test_where_text_is_wanted_everything_is_text(on_file, text):
    job_id = on_file("run", "-A", SHOP, "keep", "value=1", f"text={text}").out.strip()

    assert on_file("job", "show", job_id, "--json").json["args"]["text"] == text


def test_a_fraction_with_more_digits_than_can_be_read_is_refused(on_file):
    answer = on_file("run", "-A", SHOP, "keep", "value=1", "ratio=" + "1" * 5_000)

    assert (answer.code, answer.out) == (2, "")


def test_who_stops_waiting_is_told_which_job_goes_on(haulwright, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("haulwright.operations.jobs.JobOperations.wait", interrupted)
    answer = haulwright("run", "-A", SHOP, "price", "sku=A1", "--wait")
    (job,) = haulwright("job", "list", "--json").json["jobs"]

    assert answer.code == 130
    assert f"The job {job['id']} goes on." in answer.err

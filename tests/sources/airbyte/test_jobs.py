"""Jobs are followed to their end, many with one request, and read whatever Airbyte adds to them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from haulwright.sources import vendor
from haulwright.sources.airbyte import AirbyteRefused, AirbyteUnavailable, SyncJob, iso_duration
from haulwright.sources.airbyte import client as airbyte_client

JOBS = "/airbyte/v1/jobs"


@pytest.mark.proves("IN-15")
def test_a_job_that_is_over_says_what_it_synced_and_how_long_it_took(airbyte, sandbox, connection):
    sandbox.airbyte.script(rows=1_000, duration_seconds=3_725)
    job = airbyte.trigger(connection)
    sandbox.clock.advance(4_000)

    done = airbyte.job(job.id)

    assert (done.is_terminal, done.is_success) == (True, True)
    assert (done.records, done.bytes, done.duration_seconds) == (1_000, 412_000, 3_725.0)
    assert done.updated_at - done.started_at == timedelta(seconds=3_725)


@pytest.mark.parametrize("status", ["pending", "queued", "running", "incomplete", "reticulating"])
def test_whatever_is_no_end_goes_on(airbyte, sandbox, connection, status):
    sandbox.airbyte.script(status=status)
    job = airbyte.trigger(connection)

    seen = airbyte.job(job.id)

    assert (seen.status, seen.is_terminal, seen.is_success) == (status, False, False)


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_an_end_that_is_no_success_is_an_end(airbyte, sandbox, connection, status):
    sandbox.airbyte.script(ending=status, duration_seconds=1)
    job = airbyte.trigger(connection)
    sandbox.clock.advance(2)

    seen = airbyte.job(job.id)

    assert (seen.status, seen.is_terminal, seen.is_success) == (status, True, False)


ODD_JOBS = {
    "a number as text": ({"jobId": " 1001 "}, {"id": 1001}),
    "a number with a fraction of nothing": ({"jobId": 1001.0}, {"id": 1001}),
    "a status in capitals": ({"status": "SUCCEEDED"}, {"status": "succeeded", "is_success": True}),
    "a status without end": ({"status": "x" * 100_000}, {"status": "x" * 60, "is_terminal": False}),
    "more rows than there are numbers": ({"rowsSynced": 2**63}, {"records": None}),
    "less than no rows": ({"rowsSynced": -1}, {"records": None}),
    "endlessly many bytes": ({"bytesSynced": float("inf")}, {"bytes": None}),
    "bytes that are no number": ({"bytesSynced": float("nan")}, {"bytes": None}),
    "a duration without end": ({"duration": f"PT{'9' * 400}S"}, {"duration_seconds": None}),
}


@pytest.mark.parametrize(("said", "read"), ODD_JOBS.values(), ids=ODD_JOBS)
def test_a_job_is_read_whatever_is_odd_about_it(said, read):
    job = SyncJob.parse({"jobId": 1001, "status": "running", **said})

    assert {name: getattr(job, name) for name in read} == read


@pytest.mark.parametrize(
    "number", ["x", "", "1001.5", 1001.5, 0, -1, 2**63, float("inf"), float("nan"), True, [1], None]
)
def test_what_is_no_number_of_a_job_is_no_job(number):
    with pytest.raises(ValueError, match="a number and a status"):
        SyncJob.parse({"jobId": number, "status": "running"})


def test_one_job_that_cannot_be_read_hides_no_other_from_a_poll(airbyte, sandbox):
    page = {"data": [{"jobId": "who knows"}, None, {"jobId": 1001, "status": "running"}]}
    sandbox.faults.add("status", path=JOBS, method="GET", code=200, body=json.dumps(page))

    assert [job.id for job in airbyte.jobs(list(sandbox.airbyte.workspaces))] == [1001]


def test_a_job_that_cannot_be_read_is_not_passed_over_where_one_is_adopted(airbyte, sandbox, connection):
    page = {"data": [{"jobId": "who knows"}, {"jobId": 1001, "status": "succeeded"}]}
    sandbox.faults.add("status", path=JOBS, method="GET", code=200, body=json.dumps(page))

    with pytest.raises(AirbyteUnavailable):
        airbyte.find(connection)


def test_a_server_that_gives_the_same_page_again_and_again_is_not_asked_for_ever(airbyte, sandbox):
    page = {"data": [{"jobId": 1001, "status": "running"}], "next": "http://somewhere.example/jobs"}
    sandbox.faults.add("status", path=JOBS, method="GET", code=200, body=json.dumps(page), times=None)

    assert [job.id for job in airbyte.jobs(list(sandbox.airbyte.workspaces))] == [1001]
    assert sandbox.books.count(path=JOBS, method="GET") == 2


def test_jobs_of_several_workspaces_are_polled_in_pages(airbyte, sandbox, monkeypatch):
    monkeypatch.setattr(airbyte_client, "PAGE_JOBS", 2)
    active = [each for each in sandbox.airbyte.connections.values() if each.status == "active"]
    started = {airbyte.trigger(each.id).id for each in active}
    polls = sandbox.books.count(path=JOBS, method="GET")

    seen = list(airbyte.jobs(list(sandbox.airbyte.workspaces)))

    assert {job.id for job in seen} == started
    assert sandbox.books.count(path=JOBS, method="GET") - polls == (len(active) + 1) // 2


def test_jobs_are_narrowed_by_workspace_connection_and_time(airbyte, sandbox):
    first, second, *_ = [each for each in sandbox.airbyte.connections.values() if each.status == "active"]
    mine = airbyte.trigger(first.id)
    airbyte.trigger(second.id)
    other = next(each for each in sandbox.airbyte.workspaces if each != first.workspace)
    later = datetime.fromtimestamp(sandbox.clock.now() + 1, UTC)

    assert [job.id for job in airbyte.jobs([first.workspace], connection_ids={first.id})] == [mine.id]
    assert list(airbyte.jobs([other])) == []
    assert list(airbyte.jobs([first.workspace], since=later)) == []


def test_jobs_can_be_walked_over_on_the_event_loop(awaited, airbyte, sandbox, connection):
    job = airbyte.trigger(connection)

    async def walk():
        return [each.id async for each in airbyte.ajobs(list(sandbox.airbyte.workspaces))]

    assert awaited(walk()) == [job.id]


def test_a_cancelled_job_is_over_and_cancelling_what_is_over_is_no_error(airbyte, sandbox, connection):
    job = airbyte.trigger(connection)
    sandbox.clock.advance(5)

    assert airbyte.cancel(job.id).status == "cancelled"
    assert airbyte.cancel(job.id).status == "cancelled"


def test_cancelling_what_does_not_exist_is(airbyte):
    with pytest.raises(AirbyteRefused):
        airbyte.cancel(1)


def test_a_connection_says_whether_it_can_be_synced_and_who_else_starts_it(airbyte, sandbox):
    seen = [airbyte.connection(each) for each in sandbox.airbyte.connections]

    assert [each.is_active for each in seen].count(True) == 7
    assert {each.schedule_type for each in seen} == {"manual"}
    assert {each.workspace_id for each in seen} == set(sandbox.airbyte.workspaces)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2023-03-25T01:30Z", datetime(2023, 3, 25, 1, 30, tzinfo=UTC)),
        ("2023-03-25T01:30:50Z", datetime(2023, 3, 25, 1, 30, 50, tzinfo=UTC)),
        ("2023-03-25T03:30:50.123+02:00", datetime(2023, 3, 25, 1, 30, 50, 123_000, tzinfo=UTC)),
        ("2023-03-25T01:30", datetime(2023, 3, 25, 1, 30, tzinfo=UTC)),
        ("yesterday", None),
        (1_679_707_850, None),
    ],
)
def test_a_moment_may_lack_its_seconds(text, moment):
    assert vendor.moment(text) == moment


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT8H6M12S", 29_172),
        ("PT0S", 0),
        ("PT1.5S", 1.5),
        ("PT26H", 93_600),
        ("P1DT1H", 90_000),
        ("PT", None),
        ("8 hours", None),
        (None, None),
    ],
)
def test_a_length_of_time_is_read_in_seconds(text, seconds):
    assert iso_duration(text) == seconds


@pytest.mark.parametrize("body", ["<html>", "[]", '{"status": "running"}', '{"jobId": "x", "status": "running"}'])
def test_an_answer_that_is_no_job_is_a_failure_of_the_server(airbyte, sandbox, connection, body):
    job = airbyte.trigger(connection)
    sandbox.faults.add("status", path=f"{JOBS}/*", code=200, body=body)

    with pytest.raises(AirbyteUnavailable) as unreadable:
        airbyte.job(job.id)

    assert unreadable.value.error_class == "server"


def test_fields_that_nobody_knows_yet_do_no_harm():
    said = json.loads('{"jobId": 7, "status": "running", "rowsSynced": null, "phase": {"name": "x"}}')

    assert SyncJob.parse(said) == SyncJob(7, "", "running")

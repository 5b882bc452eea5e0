"""One sync for each request, whatever becomes of the request."""

from __future__ import annotations

import pytest

from haulwright.sources.airbyte import AirbyteBusy, AirbyteRefused, AirbyteUnavailable, error_class
from haulwright.sources.http import OutcomeUnknown

JOBS = "/airbyte/v1/jobs"
LOST = [
    pytest.param({"kind": "lost_reply"}, id="the reply is lost"),
    pytest.param({"kind": "status", "code": 500, "carried_out": True}, id="500 after it began"),
]


def of_status(sandbox, status):
    return next(each.id for each in sandbox.airbyte.connections.values() if each.status == status)


def test_a_trigger_starts_a_sync(airbyte, sandbox, connection):
    job = airbyte.trigger(connection)

    assert (job.status, job.connection_id, job.adopted) == ("pending", connection, False)
    assert [made.id for made in sandbox.airbyte.jobs(connection)] == [job.id]


def test_a_sync_that_runs_already_is_adopted(airbyte, sandbox, connection):
    first = airbyte.trigger(connection)

    second = airbyte.trigger(connection)

    assert (second.id, second.adopted) == (first.id, True)
    assert len(sandbox.airbyte.jobs(connection)) == 1


@pytest.mark.parametrize("fault", LOST)
def test_a_trigger_without_an_answer_is_looked_up_and_adopted(airbyte, sandbox, connection, fault):
    sandbox.faults.add(path=JOBS, method="POST", **fault)

    job = airbyte.trigger(connection)

    assert job.adopted
    assert [made.id for made in sandbox.airbyte.jobs(connection)] == [job.id]
    assert sandbox.books.count(path=JOBS, method="POST") == 1


def test_a_sync_that_ended_before_anybody_looked_is_known_by_its_number(airbyte, sandbox, connection):
    sandbox.airbyte.script(duration_seconds=0, times=None)
    before = airbyte.trigger(connection)
    sandbox.faults.add("lost_reply", path=JOBS, method="POST")

    job = airbyte.trigger(connection, after=before.id)

    assert job.adopted
    assert job.is_success
    assert job.id > before.id


def test_a_sync_that_may_be_an_older_one_is_not_guessed(airbyte, sandbox, connection):
    sandbox.airbyte.script(duration_seconds=0, times=None)
    airbyte.trigger(connection)
    sandbox.faults.add("refuse", path=JOBS, method="POST")

    with pytest.raises(OutcomeUnknown) as unknown:
        airbyte.trigger(connection)

    assert error_class(unknown.value) == "network"
    assert len(sandbox.airbyte.jobs(connection)) == 1


def test_a_reset_that_runs_is_no_sync_and_the_trigger_waits(airbyte, connection):
    airbyte.trigger(connection, job_type="reset")

    with pytest.raises(AirbyteBusy) as busy:
        airbyte.trigger(connection)

    assert (busy.value.error_class, busy.value.kind, busy.value.after) == ("conflict", "try-again-later", 60)


@pytest.mark.parametrize(
    ("status", "error", "word"),
    [
        ("inactive", AirbyteRefused, "conflict"),
        ("deprecated", AirbyteRefused, "conflict"),
        ("locked", AirbyteUnavailable, "locked"),
    ],
)
def test_a_connection_in_no_state_for_it_has_its_class(airbyte, sandbox, status, error, word):
    with pytest.raises(error) as refused:
        airbyte.trigger(of_status(sandbox, status))

    assert (type(refused.value), refused.value.error_class) == (error, word)
    assert sandbox.airbyte.jobs() == []


def test_a_connection_that_is_gone_is_not_found(airbyte):
    with pytest.raises(AirbyteRefused) as gone:
        airbyte.trigger("00000000-0000-4000-8000-000000000000")

    assert gone.value.error_class == "not_found"


def test_an_interrupted_trigger_is_found_by_whoever_goes_on(airbyte, connection):
    begun = airbyte.trigger(connection)

    assert airbyte.find(connection).id == begun.id
    assert airbyte.find(connection, job_type="reset") is None

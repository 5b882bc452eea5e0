"""The vendor's own client reads what the sandbox writes."""

from __future__ import annotations

import uuid

import pytest
from airbyte_api import AirbyteAPI, api, models
from airbyte_api.errors import SDKError


@pytest.fixture
def airbyte(sandbox):
    credentials = models.SchemeClientCredentials(
        # The client keeps tokens for the whole process, by its name.
        client_id=str(uuid.uuid4()),
        client_secret="s",  # noqa: S106 - any will do
        token_url=f"{sandbox.url}/airbyte/v1/applications/token",
    )
    url = f"{sandbox.url}/airbyte/v1"
    with AirbyteAPI(security=models.Security(client_credentials=credentials), server_url=url) as client:
        yield client


@pytest.fixture
def connection(sandbox):
    return next(iter(sandbox.airbyte.connections))


def started(airbyte, connection):
    request = models.JobCreateRequest(connection_id=connection, job_type=models.JobTypeEnum.SYNC)
    return airbyte.jobs.create_job(request=request).job_response


def test_it_starts_watches_and_lists_a_sync(sandbox, airbyte, connection):
    job = started(airbyte, connection)
    sandbox.clock.advance(60)

    found = airbyte.jobs.get_job(request=api.GetJobRequest(job_id=job.job_id)).job_response
    listed = airbyte.jobs.list_jobs(request=api.ListJobsRequest(connection_id=connection, limit=5)).jobs_response

    assert (job.status, found.status) == (models.JobStatusEnum.PENDING, models.JobStatusEnum.SUCCEEDED)
    assert (found.duration, found.rows_synced > 0) == ("PT30S", True)
    assert [one.job_id for one in listed.data] == [job.job_id]


def test_it_cancels_a_sync(airbyte, connection):
    job = started(airbyte, connection)

    cancelled = airbyte.jobs.cancel_job(request=api.CancelJobRequest(job_id=job.job_id)).job_response

    assert cancelled.status == models.JobStatusEnum.CANCELLED


def test_it_hears_that_a_sync_is_already_running(airbyte, connection):
    started(airbyte, connection)

    with pytest.raises(SDKError) as refused:
        started(airbyte, connection)

    assert refused.value.status_code == 409
    assert "try-again-later" in refused.value.body


def test_it_reads_connections_and_workspaces(sandbox, airbyte, connection):
    one = airbyte.connections.get_connection(request=api.GetConnectionRequest(connection_id=connection))
    workspaces = airbyte.workspaces.list_workspaces(request=api.ListWorkspacesRequest()).workspaces_response
    of_first = airbyte.connections.list_connections(
        request=api.ListConnectionsRequest(workspace_ids=[workspaces.data[0].workspace_id])
    ).connections_response

    assert one.connection_response.name == sandbox.airbyte.connections[connection].name
    assert {each.name for each in workspaces.data} == set(sandbox.airbyte.workspaces.values())
    assert {each.workspace_id for each in of_first.data} == {workspaces.data[0].workspace_id}


def test_it_changes_a_connection_and_asks_for_health(airbyte, connection):
    changed = airbyte.connections.patch_connection(
        request=api.PatchConnectionRequest(
            connection_id=connection,
            connection_patch_request=models.ConnectionPatchRequest(status=models.ConnectionStatusEnum.INACTIVE),
        )
    ).connection_response

    assert changed.status == models.ConnectionStatusEnum.INACTIVE
    assert airbyte.health.get_health_check().status_code == 200

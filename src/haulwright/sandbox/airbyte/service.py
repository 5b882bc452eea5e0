"""Airbyte v1 behind its addresses."""

from __future__ import annotations

import threading
import uuid
from typing import Any

from haulwright.sandbox.airbyte import connections as world
from haulwright.sandbox.airbyte.connections import SandboxConnection
from haulwright.sandbox.airbyte.jobs import JOB_TYPES, JobScript, SandboxSyncJob
from haulwright.sandbox.airbyte.listing import matching_jobs, page, query_values
from haulwright.sandbox.airbyte.problems import Problem, already_running, bad_request, locked, not_found, state_conflict
from haulwright.sandbox.airbyte.tokens import TokenIssuer
from haulwright.sandbox.chance import chance
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import BadRequest, SandboxReply, SandboxRequest, json_reply, text_reply
from haulwright.sandbox.routes import NoRoute, Routes
from haulwright.sandbox.scripts import Scripts

FIRST_JOB = 1001


class AirbyteSandbox:
    """Workspaces with their connections, and the jobs that were asked of them."""

    def __init__(self, clock: SandboxClock, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._lock = threading.RLock()
        self.reset()
        self._routes = Routes(
            ("POST", "/v1/applications/token", lambda request: json_reply(self.tokens.issue(request))),
            ("GET", "/v1/health", lambda _: text_reply("Successful operation")),
            ("POST", "/v1/jobs", self._start),
            ("GET", "/v1/jobs", self._list_jobs),
            ("GET", "/v1/jobs/{job}", lambda request, job: self._job_reply(self._job(request, job))),
            ("DELETE", "/v1/jobs/{job}", self._cancel),
            ("GET", "/v1/connections", self._list_connections),
            ("GET", "/v1/connections/{connection}", self._get_connection),
            ("PATCH", "/v1/connections/{connection}", self._patch_connection),
            ("GET", "/v1/workspaces", self._list_workspaces),
            ("GET", "/v1/workspaces/{workspace}", self._get_workspace),
        )

    def reset(self) -> None:
        """The connections of the beginning, no jobs, no scripts, every client welcome."""
        self.tokens = TokenIssuer(self._clock, self._seed)
        self.workspaces = world.workspaces(self._seed)
        """Their names by their ids."""
        self.connections = world.connections(self._seed)
        """Each by its id."""
        self._jobs: list[SandboxSyncJob] = []
        self._scripts: Scripts[JobScript] = Scripts()
        self._grants: dict[str, set[str]] = {}

    def script(
        self,
        *,
        revoke: str = "",
        expire_tokens: bool = False,
        token_seconds: int | None = None,
        grant: dict[str, list[str]] | None = None,
        add: dict[str, str] | None = None,
        **job: Any,
    ) -> None:
        """Decide how the next jobs go (the words of `JobScript`), who is let in, and what there is.

        `grant` limits a client to workspaces; `add` makes a connection (`name`, `workspace`, `status`).
        """
        if revoke:
            self.tokens.revoked.add(revoke)
        if expire_tokens:
            self.tokens.expire()
        if token_seconds is not None:
            self.tokens.lifetime_seconds = token_seconds
        self._grants |= {client: set(workspaces) for client, workspaces in (grant or {}).items()}
        if add:
            connection = world.make(self._seed, **add)
            self.connections[connection.id] = connection
        if job:
            self._scripts.add(JobScript(**job))

    def jobs(self, connection: str | None = None) -> list[SandboxSyncJob]:
        """Every job that was made, oldest first."""
        with self._lock:
            return [job for job in self._jobs if connection in {None, job.connection}]

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out."""
        try:
            return self._routes.answer(request)
        except Problem as problem:
            return problem.reply()
        except NoRoute:
            return not_found("path", request.path).reply()
        except BadRequest as error:
            return bad_request(str(error)).reply()

    def _start(self, request: SandboxRequest) -> SandboxReply:
        document = request.json_object()
        connection = self._connection(request, str(document.get("connectionId", "")))
        kind = document.get("jobType")
        if kind not in JOB_TYPES:
            raise bad_request(f"jobType is one of {', '.join(JOB_TYPES)}")
        with self._lock:
            self._refuse_by_state(connection)
            script = self._script_for(connection)
            luck = chance(self._seed, connection.id, len(self._jobs))
            rows = int(connection.typical_rows * luck.uniform(0.6, 1.4)) if script.rows is None else script.rows
            number = FIRST_JOB + len(self._jobs)
            job = SandboxSyncJob(number, connection.id, connection.workspace, kind, self._clock.now(), rows, script)
            self._jobs.append(job)
        return self._job_reply(job)

    def _refuse_by_state(self, connection: SandboxConnection) -> None:
        now = self._clock.now()
        if connection.status == "locked":
            raise locked(connection.id)
        if connection.status != "active":
            raise state_conflict(f"Connection {connection.id} is {connection.status}")
        if any(not job.is_over(now) for job in self.jobs(connection.id)):
            raise already_running(connection.id)

    def _script_for(self, connection: SandboxConnection) -> JobScript:
        names = {"*", connection.id, connection.name}
        return self._scripts.take(lambda waiting: waiting.connection in names) or JobScript()

    def _list_jobs(self, request: SandboxRequest) -> SandboxReply:
        seen, now = self._seen(request), self._clock.now()
        jobs = matching_jobs(request, [job for job in self.jobs() if job.workspace in seen], now)
        return json_reply(page(request, "/v1/jobs", [job.shape(now) for job in jobs]))

    def _cancel(self, request: SandboxRequest, job: str) -> SandboxReply:
        sync = self._job(request, job)
        with self._lock:
            if sync.is_over(self._clock.now()):
                raise state_conflict(f"Job {job} is not currently running")
            sync.cancelled = self._clock.now()
        return self._job_reply(sync)

    def _list_connections(self, request: SandboxRequest) -> SandboxReply:
        seen, workspaces = self._seen(request), query_values(request, "workspaceIds")
        with_inactive = request.flag("includeDeleted")
        documents = [
            connection.shape()
            for connection in self.connections.values()
            if connection.workspace in seen
            and (not workspaces or connection.workspace in workspaces)
            and (with_inactive or connection.status != "deprecated")
        ]
        return json_reply(page(request, "/v1/connections", documents))

    def _get_connection(self, request: SandboxRequest, connection: str) -> SandboxReply:
        return json_reply(self._connection(request, connection).shape())

    def _patch_connection(self, request: SandboxRequest, connection: str) -> SandboxReply:
        target, document = self._connection(request, connection), request.json_object()
        if document.get("status", "active") not in world.STATUSES:
            raise bad_request(f"status is one of {', '.join(world.STATUSES)}")
        with self._lock:
            target.name = document.get("name", target.name)
            target.status = document.get("status", target.status)
            target.schedule = document.get("schedule", target.schedule)
        return json_reply(target.shape())

    def _list_workspaces(self, request: SandboxRequest) -> SandboxReply:
        seen = self._seen(request)
        documents = [_workspace(each, name) for each, name in self.workspaces.items() if each in seen]
        return json_reply(page(request, "/v1/workspaces", documents))

    def _get_workspace(self, request: SandboxRequest, workspace: str) -> SandboxReply:
        if workspace not in self._seen(request):
            raise not_found("workspace", workspace)
        return json_reply(_workspace(workspace, self.workspaces[workspace]))

    def _seen(self, request: SandboxRequest) -> set[str]:
        """The workspaces that the client of this request may see."""
        return self._grants.get(self.tokens.client(request), set(self.workspaces))

    def _connection(self, request: SandboxRequest, connection_id: str) -> SandboxConnection:
        seen = self._seen(request)
        try:
            uuid.UUID(connection_id)
        except ValueError:
            raise bad_request(f"{connection_id!r} is no connection id") from None
        connection = self.connections.get(connection_id)
        if connection is None or connection.workspace not in seen:
            raise not_found("connection", connection_id)
        return connection

    def _job(self, request: SandboxRequest, job_id: str) -> SandboxSyncJob:
        seen = self._seen(request)
        for job in self.jobs():
            if str(job.id) == job_id and job.workspace in seen:
                return job
        raise not_found("job", job_id)

    def _job_reply(self, job: SandboxSyncJob) -> SandboxReply:
        return json_reply(job.shape(self._clock.now()))


def _workspace(identity: str, name: str) -> dict[str, Any]:
    return {"workspaceId": identity, "name": name, "dataResidency": "auto", "notifications": {}}

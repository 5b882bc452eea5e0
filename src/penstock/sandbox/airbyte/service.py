"""Airbyte v1 behind its addresses."""

from __future__ import annotations

import threading
import uuid
from typing import Any

from penstock.sandbox.airbyte import connections as world
from penstock.sandbox.airbyte.connections import Connection
from penstock.sandbox.airbyte.jobs import JOB_TYPES, Job, JobScript
from penstock.sandbox.airbyte.listing import listed, page, wanted
from penstock.sandbox.airbyte.problems import Problem, already_running, bad_request, locked, not_found, state_conflict
from penstock.sandbox.airbyte.tokens import Tokens
from penstock.sandbox.chance import chance
from penstock.sandbox.clock import Clock
from penstock.sandbox.exchange import BadRequest, Reply, Request, json_reply, text_reply
from penstock.sandbox.routes import NoRoute, Routes
from penstock.sandbox.scripts import Scripts

FIRST_JOB = 1001


class Airbyte:
    """Workspaces with their connections, and the jobs that were asked of them."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._lock = threading.RLock()
        self.reset()
        self._routes = Routes(
            ("POST", "/v1/applications/token", lambda request: json_reply(self.tokens.issue(request))),
            ("GET", "/v1/health", lambda _: text_reply("Successful operation")),
            ("POST", "/v1/jobs", self._start),
            ("GET", "/v1/jobs", self._list_jobs),
            ("GET", "/v1/jobs/{job}", lambda request, job: self._told(self._job(request, job))),
            ("DELETE", "/v1/jobs/{job}", self._cancel),
            ("GET", "/v1/connections", self._list_connections),
            ("GET", "/v1/connections/{connection}", self._get_connection),
            ("PATCH", "/v1/connections/{connection}", self._patch_connection),
            ("GET", "/v1/workspaces", self._list_workspaces),
            ("GET", "/v1/workspaces/{workspace}", self._get_workspace),
        )

    def reset(self) -> None:
        """The connections of the beginning, no jobs, no scripts, every client welcome."""
        self.tokens = Tokens(self._clock, self._seed)
        self.workspaces = world.workspaces(self._seed)
        """Their names by their ids."""
        self.connections = world.connections(self._seed)
        """Each by its id."""
        self._jobs: list[Job] = []
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
            made = world.make(self._seed, **add)
            self.connections[made.id] = made
        if job:
            self._scripts.add(JobScript(**job))

    def jobs(self, connection: str | None = None) -> list[Job]:
        """Every job that was made, oldest first."""
        with self._lock:
            return [job for job in self._jobs if connection in {None, job.connection}]

    def answer(self, request: Request) -> Reply:
        """Carry a request out."""
        try:
            return self._routes.answer(request)
        except Problem as problem:
            return problem.reply()
        except NoRoute:
            return not_found("path", request.path).reply()
        except BadRequest as error:
            return bad_request(str(error)).reply()

    def _start(self, request: Request) -> Reply:
        said = request.json_object()
        connection = self._connection(request, str(said.get("connectionId", "")))
        kind = said.get("jobType")
        if kind not in JOB_TYPES:
            raise bad_request(f"jobType is one of {', '.join(JOB_TYPES)}")
        with self._lock:
            self._refuse_by_state(connection)
            script = self._script_for(connection)
            luck = chance(self._seed, connection.id, len(self._jobs))
            rows = int(connection.typical_rows * luck.uniform(0.6, 1.4)) if script.rows is None else script.rows
            number = FIRST_JOB + len(self._jobs)
            job = Job(number, connection.id, connection.workspace, kind, self._clock.now(), rows, script)
            self._jobs.append(job)
        return self._told(job)

    def _refuse_by_state(self, connection: Connection) -> None:
        now = self._clock.now()
        if connection.status == "locked":
            raise locked(connection.id)
        if connection.status != "active":
            raise state_conflict(f"Connection {connection.id} is {connection.status}")
        if any(not job.is_over(now) for job in self.jobs(connection.id)):
            raise already_running(connection.id)

    def _script_for(self, connection: Connection) -> JobScript:
        known = {"*", connection.id, connection.name}
        return self._scripts.take(lambda waiting: waiting.connection in known) or JobScript()

    def _list_jobs(self, request: Request) -> Reply:
        seen, now = self._seen(request), self._clock.now()
        found = wanted(request, [job for job in self.jobs() if job.workspace in seen], now)
        return json_reply(page(request, "/v1/jobs", [job.shape(now) for job in found]))

    def _cancel(self, request: Request, job: str) -> Reply:
        found = self._job(request, job)
        with self._lock:
            if found.is_over(self._clock.now()):
                raise state_conflict(f"Job {job} is not currently running")
            found.cancelled = self._clock.now()
        return self._told(found)

    def _list_connections(self, request: Request) -> Reply:
        seen, asked = self._seen(request), listed(request, "workspaceIds")
        with_inactive = request.flag("includeDeleted")
        found = [
            connection.shape()
            for connection in self.connections.values()
            if connection.workspace in seen
            and (not asked or connection.workspace in asked)
            and (with_inactive or connection.status != "deprecated")
        ]
        return json_reply(page(request, "/v1/connections", found))

    def _get_connection(self, request: Request, connection: str) -> Reply:
        return json_reply(self._connection(request, connection).shape())

    def _patch_connection(self, request: Request, connection: str) -> Reply:
        found, said = self._connection(request, connection), request.json_object()
        if said.get("status", "active") not in world.STATUSES:
            raise bad_request(f"status is one of {', '.join(world.STATUSES)}")
        with self._lock:
            found.name = said.get("name", found.name)
            found.status = said.get("status", found.status)
            found.schedule = said.get("schedule", found.schedule)
        return json_reply(found.shape())

    def _list_workspaces(self, request: Request) -> Reply:
        seen = self._seen(request)
        found = [_workspace(each, name) for each, name in self.workspaces.items() if each in seen]
        return json_reply(page(request, "/v1/workspaces", found))

    def _get_workspace(self, request: Request, workspace: str) -> Reply:
        if workspace not in self._seen(request):
            raise not_found("workspace", workspace)
        return json_reply(_workspace(workspace, self.workspaces[workspace]))

    def _seen(self, request: Request) -> set[str]:
        """The workspaces that the client of this request may see."""
        return self._grants.get(self.tokens.client(request), set(self.workspaces))

    def _connection(self, request: Request, said: str) -> Connection:
        seen = self._seen(request)
        try:
            uuid.UUID(said)
        except ValueError:
            raise bad_request(f"{said!r} is no connection id") from None
        found = self.connections.get(said)
        if found is None or found.workspace not in seen:
            raise not_found("connection", said)
        return found

    def _job(self, request: Request, said: str) -> Job:
        seen = self._seen(request)
        for job in self.jobs():
            if str(job.id) == said and job.workspace in seen:
                return job
        raise not_found("job", said)

    def _told(self, job: Job) -> Reply:
        return json_reply(job.shape(self._clock.now()))


def _workspace(identity: str, name: str) -> dict[str, Any]:
    return {"workspaceId": identity, "name": name, "dataResidency": "auto", "notifications": {}}

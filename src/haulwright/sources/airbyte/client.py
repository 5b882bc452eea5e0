"""Airbyte v1: start syncs or adopt those that run, look after many at once, and say what went wrong."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

from haulwright.errors import AuthFailed
from haulwright.sources.airbyte.errors import (
    STATE_CONFLICT,
    TRY_AGAIN_LATER,
    AirbyteAuthFailed,
    AirbyteBusy,
    AirbyteRefused,
    AirbyteUnavailable,
    refusal,
    unreadable,
)
from haulwright.sources.airbyte.jobs import AirbyteConnection, SyncJob
from haulwright.sources.airbyte.tokens import ClientTokens, FixedToken, Token, Tokens
from haulwright.sources.blocking import plain, plain_iterator
from haulwright.sources.http import Http, OutcomeUnknown, Reply, RequestOptions, Secret
from haulwright.sources.http.classify import UNAUTHORISED
from haulwright.sources.vendor import E, VendorClient, look_until_found

T = TypeVar("T")
Params = Mapping[str, str | Sequence[str]]

BASE_URL: Final = "https://api.airbyte.com/v1"
PAGE_JOBS: Final = 100
MOST_PAGES: Final = 1_000
NEWEST_JOBS: Final = 5
"""How many of a connection's last jobs are looked at for one that can be adopted."""
LAG_SECONDS: Final = 2.0
"""For how long a job that must exist may be missing from the list."""


class Airbyte(VendorClient):
    """One application of an Airbyte. It retries nothing by itself, but for a token that ended too early."""

    def __init__(  # noqa: PLR0913  an account, each part with its name
        self,
        http: Http,
        client_id: str,
        client_secret: str | Secret,
        base_url: str = BASE_URL,
        *,
        credential: str = "airbyte",
        shared: bool = False,
        clock: Callable[[], float] = time.monotonic,
        tokens: Tokens | None = None,
    ) -> None:
        super().__init__(http, base_url, credential=credential, shared=shared)
        secret = client_secret if isinstance(client_secret, Secret) else Secret(client_secret)
        url = f"{self._base_url}/applications/token"
        self._tokens: Tokens = tokens or ClientTokens(http, url, client_id, secret, clock=clock)

    @classmethod
    def with_token(
        cls,
        http: Http,
        token: str | Secret,
        base_url: str = BASE_URL,
        *,
        credential: str = "airbyte",
        shared: bool = False,
    ) -> Self:
        """One that uses a token that somebody else renews."""
        fixed = FixedToken(Token(token if isinstance(token, Secret) else Secret(token)))
        return cls(http, "", "", base_url, credential=credential, shared=shared, tokens=fixed)

    async def atrigger(self, connection_id: str, *, job_type: str = "sync", after: int | None = None) -> SyncJob:
        """Start a sync, or adopt the one that runs already; Airbyte runs one at a time for a connection.

        `after` is the last job of the connection that the caller knows. Where the reply is lost and the sync is over
        before anybody looks, only this tells it from an older one; without it the error stays.
        """
        try:
            body = {"connectionId": connection_id, "jobType": job_type}
            return self._job_of(await self._ask("POST", "jobs", body=body), "the start of a sync")
        except (AirbyteBusy, AirbyteUnavailable, OutcomeUnknown) as error:
            if getattr(error, "kind", "") != TRY_AGAIN_LATER and not _may_have_begun(error):
                raise
            job = await self.afind(connection_id, job_type=job_type, after=after, patience_seconds=LAG_SECONDS)
            if job is None:
                raise
            return job

    async def afind(
        self, connection_id: str, *, job_type: str = "sync", after: int | None = None, patience_seconds: float = 0
    ) -> SyncJob | None:
        """The job of an interrupted start: the one that runs, or one that is over and newer than `after`."""

        async def look() -> SyncJob | None:
            jobs = await self._newest(connection_id, job_type)
            begun = (job for job in jobs if not job.is_terminal or (after is not None and job.id > after))
            return next(begun, None)

        job = await look_until_found(look, patience_seconds)
        return job and replace(job, adopted=True)

    async def ajobs(
        self,
        workspace_ids: Collection[str],
        *,
        connection_ids: Collection[str] | None = None,
        since: datetime | None = None,
    ) -> AsyncIterator[SyncJob]:
        """The jobs of whole workspaces that changed since then: a hundred for each request, the oldest first."""
        params: dict[str, str | Sequence[str]] = {"workspaceIds": list(workspace_ids)}
        if since is not None:
            params["updatedAtStart"] = since.isoformat()
        seen: set[int] = set()
        for number in range(MOST_PAGES):
            jobs, more = await self._page(params, number * PAGE_JOBS)
            new = [job for job in jobs if job.id not in seen]
            seen.update(job.id for job in new)
            for job in new:
                if connection_ids is None or job.connection_id in connection_ids:
                    yield job
            if not more or not new:  # a server that gives the same page again has no other
                return

    async def ajob(self, job_id: int) -> SyncJob:
        """One job."""
        return self._job_of(await self._ask("GET", f"jobs/{job_id}"), f"job {job_id}")

    async def acancel(self, job_id: int) -> SyncJob:
        """Stop a job; one that is over is returned as it ended."""
        try:
            return self._job_of(await self._ask("DELETE", f"jobs/{job_id}"), f"job {job_id}")
        except AirbyteRefused as error:
            if error.kind != STATE_CONFLICT:
                raise
        return await self.ajob(job_id)

    async def aconnection(self, connection_id: str) -> AirbyteConnection:
        """One connection."""
        reply = await self._ask("GET", f"connections/{quote(connection_id, safe='')}")
        return _read(reply, f"connection {connection_id}", AirbyteConnection.parse)

    jobs = plain_iterator(ajobs)
    trigger = plain(atrigger)
    find = plain(afind)
    job = plain(ajob)
    cancel = plain(acancel)
    connection = plain(aconnection)

    async def _newest(self, connection_id: str, job_type: str) -> list[SyncJob]:
        params = {"connectionId": connection_id, "jobType": job_type}
        paging = {"orderBy": "createdAt|DESC", "limit": str(NEWEST_JOBS), "offset": "0"}
        reply = await self._ask("GET", "jobs", params={**params, **paging})
        # Every one of them must be read: the one that cannot be may be the one that runs.
        jobs, _ = _read(reply, "the list of jobs", partial(_jobs, read=SyncJob.parse))
        return sorted(jobs, key=lambda job: job.id, reverse=True)

    async def _page(self, params: Params, offset: int) -> tuple[list[SyncJob], bool]:
        """A page of jobs, the oldest first, and whether there are more."""
        paging = {"orderBy": "createdAt|ASC", "limit": str(PAGE_JOBS), "offset": str(offset)}
        return _read(await self._ask("GET", "jobs", params={**params, **paging}), "the list of jobs", _jobs)

    def _job_of(self, reply: Reply, what: str) -> SyncJob:
        return _read(reply, what, SyncJob.parse)

    async def _ask(
        self, method: str, path: str, *, params: Params | None = None, body: Mapping[str, str] | None = None
    ) -> Reply:
        """One request. A token that was refused is replaced once: what was refused so was not carried out.

        That a token ended is no news for the gate of the source; that its successor is refused too is.
        """
        token = await self._token()
        options: RequestOptions = {"params": params, "json": body}
        reply = await self._send(method, path, token, {**options, "own_auth": self._tokens.renewable})
        if reply.status == UNAUTHORISED:
            reply = await self._send(method, path, await self._token(refused=token), options)
        if reply.ok:
            return reply
        raise self._named(refusal(f"{method} {path}", reply.status, reply.body, after=reply.park_seconds))

    async def _send(self, method: str, path: str, token: Token, options: RequestOptions) -> Reply:
        headers = {"Authorization": f"Bearer {token.secret.reveal()}", "Accept": "application/json"}
        with_headers: RequestOptions = {**options, "headers": headers}
        return await self._http.arequest(method, f"{self._base_url}/{path}", **with_headers)

    def _named(self, error: E) -> E:
        """Say whose credential it was; what is no matter of the credential concerns nobody else who shares it."""
        error = super()._named(error)
        if isinstance(error, AirbyteAuthFailed):
            error.shared = error.shared and error.speaks_of_credential
        return error

    async def _token(self, *, refused: Token | None = None) -> Token:
        try:
            return await self._tokens.aget(refused=refused)
        except AuthFailed as error:
            raise self._named(error) from None


def _may_have_begun(error: Exception) -> bool:
    """Whether a sync may run although its start failed: the reply was lost, or the server broke while it answered."""
    return isinstance(error, OutcomeUnknown) or getattr(error, "error_class", "") == "server"


def _jobs(page: Any, read: Callable[[Any], SyncJob | None] | None = None) -> tuple[list[SyncJob], bool]:
    listed = page.get("data") if isinstance(page, dict) else None
    if not isinstance(listed, list):
        raise ValueError("a page has a list of jobs")  # noqa: TRY004  a matter of what came, not of who called
    jobs = [job for job in map(read or _readable, listed) if job is not None]
    if listed and not jobs:
        raise ValueError("a page has jobs that can be read")
    return jobs, bool(page.get("next")) and bool(listed)


def _readable(document: Any) -> SyncJob | None:
    """A job of a list; None where it cannot be read, which is no reason to lose sight of the others."""
    try:
        return SyncJob.parse(document)
    except ValueError:
        return None


def _read(reply: Reply, what: str, parse: Callable[[Any], T]) -> T:
    try:
        return parse(json.loads(reply.body))
    except (ValueError, RecursionError):
        raise unreadable(what, reply.status) from None

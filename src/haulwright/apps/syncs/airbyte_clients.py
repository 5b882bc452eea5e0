"""Clients of Airbyte: one for each credential, behind a gate that the whole fleet shares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from haulwright import AuthFailed, Source, Throttled
from haulwright.apps.syncs.credentials import SHARED, Credentials, Vault
from haulwright.apps.syncs.errors import in_our_words
from haulwright.apps.syncs.settings import SyncSettings
from haulwright.engine.source import source_key, source_limits
from haulwright.errors import RunError
from haulwright.sources.airbyte import Airbyte, AirbyteConnection
from haulwright.sources.http import Gate, Grant, Http, Policy, Verdict
from haulwright.sources.http.shared_client import SharedClient

if TYPE_CHECKING:
    from haulwright import Haulwright

ACCOUNTS_REMEMBERED: Final = 10_000
NO_CREDENTIAL_SECONDS: Final = 300.0
"""How long a job waits for a worker that has the credential it needs."""


class AirbyteClients:
    """The clients of Airbyte, and the gates of the accounts behind it."""

    def __init__(self, app: Haulwright, base_url: str, limits: SyncSettings, vault: Vault) -> None:
        self._app = app
        self._base_url = base_url
        self.limits = limits
        self._vault = vault
        self._clients: dict[str, AirbyteClient] = {}
        self._accounts: dict[str, Source] = {}

    def knows(self, credential: str) -> bool:
        """Whether this process has the credential of a name."""
        return credential in self._clients or self._vault(credential) is not None

    def of(self, credential: str) -> AirbyteClient:
        """The client of a credential. A job whose credential this process lacks waits, and does not fail."""
        if credential not in self._clients:
            credentials = self._vault(credential)
            if credentials is None:
                message = f"This worker has no Airbyte credential {credential!r}."
                raise Throttled(message, after=NO_CREDENTIAL_SECONDS, gate=f"airbyte@{credential}")
            self._clients[credential] = AirbyteClient(self._app, credentials, self._base_url, self.limits)
        return self._clients[credential]

    def declare_shared(self) -> None:
        """Make the shared credential's source one of the app's: a changed credential opens it when a worker starts."""
        if self.knows(SHARED):
            source = self.of(SHARED).source
            self._app.sources[source.key] = source

    def account(self, external_account_id: str) -> Source:
        """The gate before one external account, whichever tenants it serves."""
        source = self._accounts.get(external_account_id)
        if source is None:
            if len(self._accounts) >= ACCOUNTS_REMEMBERED:
                self._accounts.clear()
            key = source_key("sync-account", external_account_id)
            source = Source(self._app, key, source_limits(rate=self.limits.account_rate, burst=1, breaker=None))
            self._accounts[external_account_id] = source
        return source


class AirbyteClient:
    """Airbyte, as one credential may ask it."""

    def __init__(self, app: Haulwright, credentials: Credentials, base_url: str, limits: SyncSettings) -> None:
        allowed = source_limits(rate=limits.api_rate, burst=limits.api_burst, concurrency=limits.api_concurrency)
        # Only the refusal of a shared credential closes the source; another is the matter of its one tenant.
        secret = credentials.secret if credentials.is_shared else None
        self.source = Source(app, source_key("airbyte", credentials.name), allowed, credential=secret)
        self._http = Http(policy=Policy.for_address(base_url), gate=_PatientGate(self.source.gate))
        self.airbyte = _client(self._http, credentials, base_url, self.source.key)
        self._doors = SharedClient(self._http)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Airbyte]:
        """Airbyte for a while. Errors come out in our words; the last user of an event loop closes its connections."""
        async with self._doors.enter():
            try:
                yield self.airbyte
            except RunError as error:
                raise in_our_words(await self._judged(error)) from None

    def connection(self, airbyte_id: str) -> AirbyteConnection:
        """One connection as Airbyte has it, for callers without an event loop."""
        try:
            return self.airbyte.connection(airbyte_id)
        finally:
            self._http.close()

    async def _judged(self, error: RunError) -> RunError:
        """Close the source where a shared credential is refused. That it may not do this one thing closes nothing."""
        if not isinstance(error, AuthFailed) or not error.shared:
            return error
        with suppress(Throttled):  # closed already, or too busy: the next job that is refused says it
            async with self.source.aenter() as visit:
                visit.outcome = "auth"
        return error


class _PatientGate:
    """The gate of a source whose refusals the client judges: a 401 may be a token that ended, a 403 one connection."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def enter(self) -> Grant:
        """As the gate itself."""
        return _PatientGrant(await self._gate.enter())


class _PatientGrant:
    def __init__(self, grant: Grant) -> None:
        self._grant = grant

    async def leave(self, verdict: Verdict) -> None:
        """As the grant itself, but for a refusal."""
        await self._grant.leave(replace(verdict, outcome="ignored") if verdict.outcome == "auth" else verdict)


def _client(http: Http, account: Credentials, base_url: str, key: str) -> Airbyte:
    """Airbyte with a token that somebody else renews, or with those that a client fetches itself."""
    if account.client_id is None:
        return Airbyte.with_token(http, account.secret, base_url, credential=key, shared=account.is_shared)
    return Airbyte(http, account.client_id, account.secret, base_url, credential=key, shared=account.is_shared)

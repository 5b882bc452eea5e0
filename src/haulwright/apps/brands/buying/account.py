"""The Apify account that pays for runs, behind one gate for the whole fleet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple

from haulwright.errors import Refused
from haulwright.settings import Settings
from haulwright.sources.apify import Apify
from haulwright.sources.http import Limits, Policy, Secret
from haulwright.sources.http.shared_client import SharedClient

if TYPE_CHECKING:
    from haulwright import Haulwright

SOURCE: Final = "apify"
REQUESTS_AT_ONCE: Final = 32


class OwnClient(NamedTuple):
    """A client that somebody brings along, and its connections."""

    apify: Apify
    connections: SharedClient


_replacement: ContextVar[OwnClient | None] = ContextVar("brands_apify_client", default=None)


class ApifyAccount:
    """Whoever speaks to Apify enters here."""

    def __init__(self, app: Haulwright, settings: Settings, request_seconds: float) -> None:
        token = settings["apify_token"]
        self._token = None if token is None else Secret(token)
        self._base_url = str(settings["apify_base_url"])
        self.source = app.source(
            SOURCE,
            account="brands",
            concurrency=REQUESTS_AT_ONCE,
            credential=self._token,
            limits=Limits(total=request_seconds),
            policy=Policy.for_address(self._base_url),
        )
        self._doors = SharedClient(self.source.http)

    def require_token(self) -> Secret:
        """The token; refused where there is none, before anything is begun."""
        if self._token is None:
            message = "There is no token for Apify, so that no run can be paid for."
            raise Refused(message, hint="Set APIFY_TOKEN where this runs, for the workers too.")
        return self._token

    @contextmanager
    def replaced_by(self, client: OwnClient | None) -> Iterator[None]:
        """Speak through a client of the caller's own, in what runs inside the block; None changes nothing."""
        token = _replacement.set(client)
        try:
            yield
        finally:
            _replacement.reset(token)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Apify]:
        """The client, for as long as it is entered."""
        replacement = _replacement.get()
        if replacement is not None:
            async with replacement.connections.enter():
                yield replacement.apify
            return
        token = self.require_token()
        async with self._doors.enter() as http:
            yield Apify(http, token, self._base_url, credential=self.source.key, shared=True)

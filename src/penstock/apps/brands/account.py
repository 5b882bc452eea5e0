"""The Apify account that pays for runs, behind one gate for the whole fleet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from penstock.errors import Refused
from penstock.settings import Settings
from penstock.sources.apify import Apify
from penstock.sources.http import Limits, Policy, Secret
from penstock.sources.http.last_out import LastOut

if TYPE_CHECKING:
    from penstock.client.app import Penstock

SOURCE: Final = "apify"
REQUESTS_AT_ONCE: Final = 32


class Account:
    """Whoever speaks to Apify enters here."""

    def __init__(self, app: Penstock, settings: Settings, request_seconds: float) -> None:
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
        self._doors = LastOut(self.source.http)

    def require_token(self) -> Secret:
        """The token; refused where there is none, before anything is begun."""
        if self._token is None:
            message = "There is no token for Apify, so that no run can be paid for."
            raise Refused(message, hint="Set APIFY_TOKEN where this runs, for the workers too.")
        return self._token

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Apify]:
        """The client, for as long as it is entered."""
        token = self.require_token()
        async with self._doors.enter() as http:
            yield Apify(http, token, self._base_url, credential=self.source.key, shared=True)

"""The reception of the API: who sent a request, and whether there is room for it now."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from haulwright.api.auth.identity import Authenticator, CallerIdentity
from haulwright.api.kit.problems import Unauthenticated

if TYPE_CHECKING:
    from fastapi import Request

    from haulwright.client.app import Haulwright

log = logging.getLogger("haulwright.api")

LONGEST_CREDENTIAL_CHARS: Final = 16_384


class Reception:
    """What every request passes before its route sees it."""

    def __init__(self, app: Haulwright, authenticators: Sequence[Authenticator]) -> None:
        self.app = app
        self._authenticators = authenticators

    async def identify(self, request: Request) -> CallerIdentity | None:
        """Who sent it; None where nobody is known by what it shows."""
        headers = request.headers.getlist("authorization")
        if len(headers) != 1 or len(headers[0]) > LONGEST_CREDENTIAL_CHARS:
            return None
        scheme, _, credential = headers[0].partition(" ")
        if scheme.lower() != "bearer" or not credential:
            return None
        for authenticator in self._authenticators:
            try:
                identity = await authenticator.identify(credential)
            except Unauthenticated:
                return None
            if identity is not None:
                return identity
        return None

    async def admit(self, request: Request, identity: CallerIdentity) -> None:
        """Refuse where a limit of this caller is reached."""

"""Tokens that this installation gave out, looked up by their hash and remembered for some seconds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, cast

from starlette.concurrency import run_in_threadpool

from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated
from haulwright.operations.strangers import find_token
from haulwright.stores.api_tokens import MARK, digest_of

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.operations.principal import Role

REMEMBERED_SECONDS: Final = 5.0
"""How long a token that was revoked may still be taken by a process that saw it just before."""
MOST_REMEMBERED: Final = 10_000


class ApiTokenAuthenticator:
    """Knows who shows one of our tokens."""

    def __init__(self, app: Haulwright) -> None:
        self._app = app
        self._known: dict[str, tuple[float, CallerIdentity]] = {}

    async def identify(self, credential: str) -> CallerIdentity | None:
        """Who shows it; None where it is none of ours."""
        if not credential.startswith(MARK):
            return None
        digest = digest_of(credential)
        until, identity = self._known.get(digest, (0.0, None))
        if identity is not None and until > time.monotonic():
            return identity
        token = await run_in_threadpool(find_token, self._app, credential)
        if token is None:
            self._known.pop(digest, None)
            raise Unauthenticated("its token is not known, revoked or expired")
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        identity = CallerIdentity(token.name, cast("Role", token.role), token.tenant)
        self._known[digest] = (time.monotonic() + REMEMBERED_SECONDS, identity)
        return identity

"""Access tokens: fetched once for everybody who asks at the same time, and again before they end."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Protocol

from haulwright.sources.airbyte.errors import AirbyteAuthFailed, problem_of, refusal, unreadable
from haulwright.sources.http import Http, Secret

SHARE_OF_LIFE: Final = 0.8
"""How much of its life a token is used for."""
DEFAULT_LIFE_SECONDS: Final = 180.0
"""Where the answer does not say how long it lives: the shortest that Airbyte ever gave."""
_REFUSED: Final = frozenset({400, 401, 403, 404, 422})


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and the how-manieth it is: one that is fetched anew may have the same text."""

    secret: Secret
    number: int = 0


class Tokens(Protocol):
    """Where a client gets its token."""

    @property
    def renewable(self) -> bool:
        """Whether a token that was refused can be replaced by another."""

    async def aget(self, *, refused: Token | None = None) -> Token:
        """A token that was fetched after the one that was refused, or AuthFailed."""


@dataclass(frozen=True, slots=True)
class FixedToken:
    """A token that somebody else looks after."""

    token: Token
    renewable = False

    async def aget(self, *, refused: Token | None = None) -> Token:
        """The token, unless it was refused."""
        if refused is not None:
            raise problem_of(AirbyteAuthFailed, "auth", "Airbyte refused the token.", status=401)
        return self.token


class ClientTokens:
    """Tokens of one application, by its client id and secret. Safe on several threads and event loops at once."""

    renewable = True

    def __init__(
        self,
        http: Http,
        url: str,
        client_id: str,
        client_secret: Secret,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = http
        self._url = url
        self._client_id = client_id
        self._client_secret = client_secret
        self._clock = clock
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._fresh_until = 0.0
        self._flight: Future[Token | None] | None = None

    async def aget(self, *, refused: Token | None = None) -> Token:
        """A fresh token. Only one request for it is under way at any time; whoever asks meanwhile shares its end."""
        while True:
            with self._lock:
                if self._token is not None and self._serves(self._token, refused):
                    return self._token
                flight, mine = self._flight, self._flight is None
                if flight is None:
                    flight = self._flight = Future()
            if mine:
                return await self._fly(flight)
            # Shielded: one who is cancelled while waiting must not end the flight of the others.
            token = await asyncio.shield(asyncio.wrap_future(flight))
            if token is not None:
                return token

    def _serves(self, token: Token, refused: Token | None) -> bool:
        newer = refused is None or token.number > refused.number
        return newer and self._clock() < self._fresh_until

    async def _fly(self, flight: Future[Token | None]) -> Token:
        """Fetch a token for all who wait. They share a failure; where this caller is cancelled, one of them goes on."""
        token: Token | None = None
        failure: Exception | None = None
        try:
            token = await self._fetch()
        except Exception as error:
            failure = error
            raise
        finally:
            with self._lock:
                self._flight = None
            if failure is None:
                flight.set_result(token)
            else:
                flight.set_exception(failure)
        return token

    async def _fetch(self) -> Token:
        body = {
            "client_id": self._client_id,
            "client_secret": self._client_secret.reveal(),
            # The specification lists the one name and requires the other.
            "grant-type": "client_credentials",
            "grant_type": "client_credentials",
        }
        begun = self._clock()
        reply = await self._http.arequest("POST", self._url, json=body)
        if reply.status in _REFUSED:
            message = f"Airbyte gives no token to the client {self._client_id}: status {reply.status}."
            raise problem_of(AirbyteAuthFailed, "auth", message, status=reply.status)
        if not reply.ok:
            raise refusal("the request for a token", reply.status, reply.body, after=reply.park_seconds)
        text, life = _read(reply.body) or ("", 0.0)
        if not text:
            raise unreadable("the request for a token", reply.status)
        with self._lock:
            token = self._token = Token(Secret(text), self._token.number + 1 if self._token else 1)
            self._fresh_until = begun + life * SHARE_OF_LIFE
        return token


def _read(body: bytes) -> tuple[str, float] | None:
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    token = document.get("access_token") if isinstance(document, dict) else None
    if not isinstance(token, str) or not token:
        return None
    life = document.get("expires_in")
    return token, float(life) if isinstance(life, int | float) and life > 0 else DEFAULT_LIFE_SECONDS

"""Who comes in, before there is a principal: tokens of ours looked up, and strangers written down, but not all of them.

Anybody can send requests that nobody is known by. If each of them were an event, a stranger could fill the database;
so they are counted, and written down a few times a minute with how many they were.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from haulwright import events
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import DatabaseUnavailable
from haulwright.events import Event
from haulwright.redaction import redact

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.stores.api_tokens import ApiToken

STRANGER: Final = "nobody"
"""The actor of such an event."""
AUTHENTICATE: Final = "authenticate"
EVENT_EVERY_SECONDS: Final = 10.0


def find_token(app: Haulwright, credential: str) -> ApiToken | None:
    """The token of ours that somebody shows, noted as used; None where it is not known, revoked or expired.

    Whose database takes no writes just now, as a replica never does, may still read it.
    """
    store = app.store
    token = store.api_tokens.find(credential)
    if token is not None:
        with suppress(DatabaseUnavailable):
            store.api_tokens.touch(token.prefix, store.now())
    return token


class Strangers:
    """Refused requests that nobody is known by."""

    def __init__(self, app: Haulwright) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._count = 0
        self._next = float("-inf")

    def note(self) -> int:
        """Count one; returns how many are to be written down now, 0 where they were a moment ago."""
        with self._lock:
            self._count += 1
            if time.monotonic() < self._next:
                return 0
            count, self._count = self._count, 0
            self._next = time.monotonic() + EVENT_EVERY_SECONDS
            return count

    def record(self, reason: str, *, request_id: str, count: int) -> None:
        """Write down that so many were refused, with the last of them. Its address is in the log of the server.

        Where that cannot be, they go with the next.
        """
        data = {"verb": AUTHENTICATE, "reason": redact(reason), "count": count, "request_id": request_id}
        refusal = Event(events.REQUEST_REFUSED, DEFAULT_TENANT, actor=STRANGER, data=data)
        try:
            store = self._app.store
            store.database.transact(lambda connection: store.events.record(connection, [refusal]))
        except BaseException:
            with self._lock:
                self._count += count
            raise

"""One request of a principal from outside: what it may see of the rows, its id in every event, and once for its key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from haulwright import events
from haulwright.client.store_view import seen_through
from haulwright.operations.request_stores import store_for
from haulwright.stores.caller_connection import CallerConnection
from haulwright.stores.request_keys import KeptAnswer
from haulwright.stores.store import Store

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.operations.principal import Principal
    from haulwright.stores.connection import Connection

__all__ = ["KeptAnswer", "RequestKey", "answer_request", "look"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The word by which a caller says that two requests are one."""

    key: str
    fingerprint: str
    """Of what was asked: the same key with another request is refused."""


def answer_request(
    app: Haulwright,
    principal: Principal,
    work: Callable[[], KeptAnswer],
    *,
    request_id: str,
    key: RequestKey | None = None,
) -> KeptAnswer:
    """Do what a request asks, seeing of the database what its principal may see.

    With a key it is one transaction with the record of its answer: work then does no I/O and may be called again.
    """
    token = events.request_id.set(request_id)
    store = store_for(app, principal)
    try:
        with seen_through(app, store):
            if key is None:
                return work()

            def joined(connection: Connection) -> KeptAnswer:
                with seen_through(app, Store(CallerConnection(connection, store.database))):
                    return work()

            return store.request_keys.once(principal.tenant, key.key, key.fingerprint, joined)
    finally:
        events.request_id.reset(token)


def look(app: Haulwright, principal: Principal, work: Callable[[], T], *, request_id: str = "") -> T:
    """Read something on behalf of a principal, seeing of the database what it may see."""
    token = events.request_id.set(request_id)
    try:
        with seen_through(app, store_for(app, principal)):
            return work()
    finally:
        events.request_id.reset(token)

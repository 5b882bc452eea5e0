"""Requests that carried an Idempotency-Key: each is done once, and its answer given again to whoever repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from haulwright.clock import SECOND
from haulwright.errors import KeyReused
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, first

KEPT_SECONDS: Final = 86400.0
"""How long an answer is given again."""


class KeptAnswer(NamedTuple):
    """What a request was answered."""

    status: int
    body: str
    """JSON."""
    headers: Mapping[str, str]


class RequestKeys:
    """The keys of a database."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "request_keys")

    def once(
        self, tenant: str | None, key: str, fingerprint: str, work: Callable[[Connection], KeptAnswer]
    ) -> KeptAnswer:
        """Do what a request asks, and keep its answer, in one transaction; a second one gets the answer of the first.

        One key stands for one request: with another fingerprint it is refused. What raises keeps nothing.
        """
        params = {"tenant": tenant or "", "key": key}

        def transaction(connection: Connection) -> KeptAnswer:
            connection.run(self._book["lock"], params)
            row = first(connection.run(self._book["find"], params))
            if row is not None:
                if row[0] != fingerprint:
                    hint = "Make a new key for each request, and repeat a request with its own key and the same body."
                    raise KeyReused(f"The Idempotency-Key {key!r} was used for another request.", hint=hint)
                return KeptAnswer(row[1], row[2], json.loads(row[3]))
            answer = work(connection)
            kept = {"fingerprint": fingerprint, **answer._asdict(), "headers": json.dumps(dict(answer.headers))}
            connection.run(self._book["keep"], {**params, **kept, "now": self._db.clock.now()})
            return answer

        return self._db.transact(transaction)

    def prune(self, limit: int, kept_seconds: float = KEPT_SECONDS) -> int:
        """Forget a batch of those that nobody will repeat any more."""
        params = {"kept_us": round(kept_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.run(self._book["prune"], params), rows=limit))

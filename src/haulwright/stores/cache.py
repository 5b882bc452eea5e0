"""Answers of other people's servers that were kept: rows under keys that contain tenant and credential."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from haulwright.clock import Instant
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, first

BODY_LIMIT_BYTES = 8 * 1024 * 1024
"""A larger answer is not kept."""
ROOM_BYTES = 1024 * 1024 * 1024
"""What all answers together may take; those that would go first anyway make room."""
BATCH = 200


class CachedResponse(NamedTuple):
    """One kept answer."""

    status: int
    head: str
    """JSON: what belongs to the answer beside its body."""
    body: bytes
    requested_at: Instant
    answered_at: Instant
    fresh_until: Instant
    keep_until: Instant


class ResponseCache:
    """The kept answers of a database."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "cache")

    def load(self, key: str) -> CachedResponse | None:
        """The answer under a key, where it is still kept."""
        params = {"key": key, "now": self._db.clock.now()}
        row = self._db.read(lambda connection: first(connection.run(self._book["load"], params)))
        return None if row is None else CachedResponse(row[0], row[1], bytes(row[2]), *row[3:])

    def kept(self, keys: Sequence[str]) -> set[str]:
        """Those of some keys under which there is an answer."""
        columns, now = {"key": list(keys)}, {"now": self._db.clock.now()}
        rows = self._db.read(lambda connection: connection.run_batch(self._book["kept"], columns, now))
        return {key for (key,) in rows}

    def save(self, key: str, source: str, response: CachedResponse) -> bool:
        """Keep an answer in place of what was there; False where it is too large, and nothing is kept."""
        if len(response.body) > BODY_LIMIT_BYTES:
            self.forget(key)
            return False
        params = {"key": key, "source": source, "size": len(response.body) + len(response.head), **response._asdict()}
        self._db.transact(lambda connection: connection.run(self._book["save"], params))
        return True

    def take_renewal(self, key: str, fresh_until: Instant, until: Instant) -> bool:
        """Mark an answer as being renewed until a moment; True for one of all who found it fresh until the same one."""
        params = {"key": key, "fresh_until": fresh_until, "until": until}
        return bool(self._db.run_single(self._book["take_renewal"], params))

    def forget(self, key: str) -> None:
        """Drop what is kept under a key, if anything: most answers that may not be kept have nothing to replace."""
        if self.load(key) is None:
            return  # a look holds up nobody, where a transaction waits for everybody who writes
        self._db.transact(lambda connection: connection.run(self._book["forget"], {"key": key}))

    def prune(self, room_bytes: int = ROOM_BYTES, limit: int = BATCH) -> int:
        """Remove a batch of what nobody needs any more, and a batch of what is over the room for all."""
        count = self._drop("prune", limit, now=self._db.clock.now())
        return max(count, self._drop("trim", limit, room_bytes=room_bytes))

    def _drop(self, entry: str, limit: int, **params: str | int | None) -> int:
        def work(connection: Connection) -> int:
            return len(connection.run(self._book[entry], {**params, "limit": limit}))

        return self._db.transact(work, rows=limit)

"""Dead letters that wait for somebody, put together by what they died of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from haulwright.clock import Instant
from haulwright.stores.books import book
from haulwright.stores.connection import Database
from haulwright.stores.paging import check_page

NEWEST: Final = 1_000
"""How many dead letters are looked at, the newest first: what is older than so many tells nobody anything new."""


@dataclass(frozen=True, slots=True)
class DeadGroup:
    """Dead letters of one task that died of the same error."""

    error_class: str | None
    error_code: str | None
    task: str
    count: int
    first_seen_at: Instant
    last_seen_at: Instant
    sample_job_id: str
    """The newest of them."""


class DeadLetters:
    """The dead letters of a database."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "dead_letters")

    def groups(self, tenant: str | None = None, *, limit: int = 50) -> list[DeadGroup]:
        """Of the newest those that nobody requeued yet, by error and task, the most first."""
        params: dict[str, str | int] = {"newest": NEWEST, "limit": check_page(limit)}
        entry = self._book["groups"]
        if tenant is not None:
            params["tenant"], entry = tenant, self._book["groups_of_tenant"]
        rows = self._db.read(lambda connection: connection.run(entry, params))
        return [DeadGroup(*row) for row in rows]

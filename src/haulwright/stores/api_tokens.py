"""Tokens of programs that use the HTTP API. A token is shown once; kept are a hash, and its beginning as a name."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final, NamedTuple

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import NotFound
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, first
from haulwright.stores.events import Events
from haulwright.stores.paging import Page, check_page, page_of

MARK: Final = "hw_"
"""How every token begins, so that scanners of repositories and logs know one when they see it."""
PREFIX_BYTES: Final = 6
SECRET_BYTES: Final = 32


class ApiToken(NamedTuple):
    """A token as it is remembered."""

    prefix: str
    name: str
    role: str
    tenant: str | None
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    last_used_at: Instant | None
    revoked_at: Instant | None
    revoked_by: str | None


class ApiTokens:
    """The tokens of a database."""

    def __init__(self, database: Database, events: Events) -> None:
        self._db = database
        self._events = events
        self._book = book("haulwright.stores", database.dialect, "api_tokens")

    def create(
        self, name: str, role: str, tenant: str | None, *, expires_at: Instant | None, actor: str
    ) -> tuple[str, ApiToken]:
        """A new token in full, which nobody can read again, and what is remembered of it."""
        prefix = MARK + secrets.token_hex(PREFIX_BYTES)
        token = f"{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}"
        params = {
            "prefix": prefix, "digest": digest_of(token), "name": name, "role": role, "tenant": tenant,
            "created_by": actor, "expires_at": expires_at, "now": self._db.clock.now(),
        }  # fmt: skip

        def work(connection: Connection) -> ApiToken:
            row = ApiToken._make(connection.run(self._book["create"], params)[0])
            self._record(connection, events.TOKEN_CREATED, actor, row.tenant, {"token": prefix, "role": role})
            return row

        return token, self._db.transact(work)

    def find(self, token: str) -> ApiToken | None:
        """The token that somebody shows, where it may be used now."""
        prefix = prefix_of(token)
        if prefix is None:
            return None
        params = {"prefix": prefix, "digest": digest_of(token), "now": self._db.clock.now()}
        row = self._db.read(lambda connection: first(connection.run(self._book["find"], params)))
        return None if row is None else ApiToken._make(row)

    def page(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[ApiToken]:
        """The tokens in the order of their beginnings."""
        params = {"tenant": tenant, "after": after or "", "limit": check_page(limit) + 1}
        rows = self._db.read(lambda connection: connection.run(self._book["page"], params))
        return page_of([ApiToken._make(row) for row in rows], limit, lambda token: token.prefix)

    def any_live(self) -> bool:
        """Whether anybody has a token that may be used now."""
        params = {"now": self._db.clock.now()}
        return bool(self._db.read(lambda connection: connection.run(self._book["live"], params)))

    def touch(self, prefix: str, at: Instant) -> None:
        """Note to the minute that a token was used."""
        params = {"prefix": prefix, "now": at - at % (60 * SECOND)}
        self._db.transact(lambda connection: connection.run(self._book["touch"], params))

    def revoke(self, prefix: str, *, tenant: str | None, actor: str) -> None:
        """Have a token refused from now on."""
        params = {"prefix": prefix, "tenant": tenant, "revoked_by": actor, "now": self._db.clock.now()}

        def work(connection: Connection) -> None:
            row = first(connection.run(self._book["revoke"], params))
            if row is None:
                raise NotFound("live token", prefix, hint="See them with: haulwright token list")
            self._record(connection, events.TOKEN_REVOKED, actor, row[0], {"token": prefix})

        self._db.transact(work)

    def _record(self, connection: Connection, name: str, actor: str, tenant: str | None, data: dict[str, str]) -> None:
        self._events.record(connection, [Event(name, tenant or DEFAULT_TENANT, actor=actor, data=data)])


def digest_of(token: str) -> str:
    """What is kept of a token. It has more chance in it than anybody can try, so a fast hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def prefix_of(token: str) -> str | None:
    """The beginning of a token, by which it is found; None where this is none of ours."""
    parts = token.split("_", 2)
    is_ours = len(parts) == 3 and parts[0] == "hw" and len(parts[1]) == 2 * PREFIX_BYTES and parts[1].isalnum()  # noqa: PLR2004 - mark, name, secret
    return f"{MARK}{parts[1]}" if is_ours and token.isascii() else None

"""Tokens of programs that use the HTTP API: created, listed and revoked by who runs the installation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.clock import SECOND
from haulwright.engine.durations import Duration, seconds
from haulwright.engine.names import check_name, check_tenant
from haulwright.errors import InvalidValue, Refused
from haulwright.operations.access import Noun, allowed

if TYPE_CHECKING:
    from haulwright.stores.api_tokens import ApiToken
    from haulwright.stores.paging import Page

TOKEN_ROLES: Final = ("tenant", "support", "admin", "monitor")
"""As whom a token may act. The installation itself needs none."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just created."""

    token: str
    """In full: nobody can read it again."""
    row: ApiToken


class TokenOperations(Noun):
    """Give programs a way in, and take it from them."""

    @allowed("token.create")
    def create(
        self, name: str, *, role: str = "tenant", tenant: str | None = None, expires_in: Duration | None = None
    ) -> NewToken:
        """A token for one tenant, or for staff. It is shown once."""
        if role not in TOKEN_ROLES:
            raise InvalidValue("role", role, f"is not one of {', '.join(TOKEN_ROLES)}")
        tenant = self._own_tenant("token.create", tenant)  # who acts for one tenant lets nobody in to another
        if role == "tenant" and tenant is None:
            raise Refused(
                "A token of a tenant says whose it is.", hint="Name the tenant, on the command line with --tenant."
            )
        if role in {"admin", "monitor"} and tenant is not None:
            raise Refused(
                f"Who has the role {role} sees all tenants.", hint="Leave the tenant out, or take the role tenant."
            )
        expires_at = None
        if expires_in is not None:
            expires_at = self._store.now() + round(seconds(expires_in, what="expires_in", minimum=1) * SECOND)
        token, row = self._store.api_tokens.create(
            check_name("name", name),
            role,
            None if tenant is None else check_tenant(tenant),
            expires_at=expires_at,
            actor=self._principal.actor,
        )
        return NewToken(token, row)

    @allowed("token.read")
    def page(self, *, tenant: str | None = None, after: str | None = None, limit: int = 50) -> Page[ApiToken]:
        """The tokens, without what would let anybody in."""
        return self._store.api_tokens.page(self._tenant or tenant, after=after, limit=limit)

    @allowed("token.read")
    def any_live(self) -> bool:
        """Whether anybody could come in with one now."""
        return self._store.api_tokens.any_live()

    @allowed("token.revoke")
    def revoke(self, prefix: str) -> None:
        """Have a token refused, by its beginning."""
        self._store.api_tokens.revoke(prefix, tenant=self._tenant, actor=self._principal.actor)

"""The JSON of a token: never what would let anybody in, but for the one moment in which it is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from haulwright.operations.tokens import NewToken
    from haulwright.stores.api_tokens import ApiToken
    from haulwright.stores.paging import Page


class TokenView(TypedDict):
    """A token."""

    prefix: str
    name: str
    role: str
    tenant: str | None
    created_at: str | None
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class NewTokenView(TokenView):
    """The same with the token itself, which is shown once."""

    token: str


class RevokedTokenView(TypedDict):
    """A token that is refused from now on."""

    prefix: str
    revoked: bool


class TokenPageView(TypedDict):
    """A page of tokens."""

    tokens: list[TokenView]
    next: str | None


def token_view(token: ApiToken) -> TokenView:
    """A token."""
    return {
        "prefix": token.prefix,
        "name": token.name,
        "role": token.role,
        "tenant": token.tenant,
        "created_at": iso(token.created_at),
        "created_by": token.created_by,
        "expires_at": iso(token.expires_at),
        "last_used_at": iso(token.last_used_at),
        "revoked_at": iso(token.revoked_at),
    }


def new_token_view(new: NewToken) -> NewTokenView:
    """A token that was just created."""
    return {**token_view(new.row), "token": new.token}


def revoked_token_view(prefix: str) -> RevokedTokenView:
    """A token that is refused from now on."""
    return {"prefix": prefix, "revoked": True}


def tokens_view(page: Page[ApiToken]) -> TokenPageView:
    """A page of tokens."""
    return {"tokens": [token_view(token) for token in page.rows], "next": page.next}


TOKEN_COLUMNS: Final[tuple[Column[ApiToken], ...]] = (
    Column("token", lambda token: f"{token.prefix}…"),
    Column("name", lambda token: token.name),
    Column("role", lambda token: token.role),
    Column("tenant", lambda token: token.tenant or ""),
    Column("created", lambda token: token.created_at, moment=True, optional=1),
    Column("last used", lambda token: token.last_used_at, moment=True),
    Column("expires", lambda token: token.expires_at, moment=True),
    Column("revoked", lambda token: token.revoked_at, moment=True),
)

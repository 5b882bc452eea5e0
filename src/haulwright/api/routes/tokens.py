"""Tokens of programs that use this API: created, listed and revoked by who runs the installation."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import Field

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Limit, RequestBody, TokenPrefix
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.views.tokens import (
    NewTokenView,
    RevokedTokenView,
    TokenPageView,
    new_token_view,
    revoked_token_view,
    tokens_view,
)

routes = ApiRoutes("tokens", prefix="/tokens")


class NewTokenBody(RequestBody):
    """As whom a token lets somebody in."""

    name: Annotated[str, Field(description="Whose it is; events name it.")]
    role: Literal["tenant", "support", "admin"] = "tenant"
    tenant: Annotated[str, Field(description="Whose rows it sees; a role tenant needs one.")] | None = None
    expires_in: Annotated[str | float, Field(description="Seconds, or '90 days'.")] | None = None


@routes.post("", NewTokenView, status=HTTPStatus.CREATED)
def create(call: Caller, body: NewTokenBody) -> NewTokenView:
    """Create a token. It is shown this once: no Idempotency-Key is taken, for its answer would be kept."""
    tokens = call.operations.tokens
    new = tokens.create(body.name, role=body.role, tenant=body.tenant, expires_in=body.expires_in)
    return new_token_view(new)


@routes.get("", TokenPageView)
def list_(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> TokenPageView:
    """List the tokens with their roles, and when they were last used."""
    cursors = call.cursors()
    view = tokens_view(call.operations.tokens.page(after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.delete("/{prefix}", RevokedTokenView)
def revoke(call: Caller, prefix: TokenPrefix) -> RevokedTokenView:
    """Refuse a token from now on. Servers that just saw it notice within seconds."""
    call.operations.tokens.revoke(prefix)
    return revoked_token_view(prefix)

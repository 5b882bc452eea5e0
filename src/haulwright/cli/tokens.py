"""`haulwright token`: the way in for programs that use the HTTP API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.options import page_options
from haulwright.cli.kit.params import DURATION
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.tokens import TOKEN_ROLES
from haulwright.operations.views.tokens import TOKEN_COLUMNS, new_token_view, revoked_token_view, tokens_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site


command = NounGroup("token", help="Tokens for the HTTP API: create, list, revoke.", makes_database=("create",))


@command.command("create")
@click.argument("name")
@click.option("--tenant", help="Whose rows it sees, and for whom it acts.")
@click.option("--role", type=click.Choice(TOKEN_ROLES), default="tenant", show_default=True, help="What it may do.")
@click.option("--expires-in", type=DURATION, metavar="TIME", help="For how long it is valid, such as '90 days'.")
@click.pass_obj
def create(site: Site, name: str, *, tenant: str | None, role: str, expires_in: float | None) -> None:
    """Create a token and print it: it is shown this once, and kept as a hash."""
    new = site.operations().tokens.create(name, role=role, tenant=tenant, expires_in=expires_in)
    site.out.show(new_token_view(new), new.token)


@command.command("list")
@click.option("--tenant", help="Only those of this tenant.")
@page_options(metavar="TOKEN")
@click.pass_obj
def list_(site: Site, tenant: str | None, limit: int, after: str | None) -> None:
    """List the tokens with their roles, and when they were last used."""
    page = site.operations().tokens.page(tenant=tenant, after=after, limit=limit)
    site.show_page(tokens_view(page), TOKEN_COLUMNS, page.rows, page.next, empty="No tokens.")


@command.command("revoke")
@click.argument("prefix", metavar="TOKEN")
@click.pass_obj
def revoke(site: Site, prefix: str) -> None:
    """Refuse a token from now on, named by its beginning. Servers that just saw it notice within seconds."""
    site.operations().tokens.revoke(prefix)
    site.out.show(revoked_token_view(prefix), f"The token {prefix} is revoked.")

"""`penstock doctor`: how this installation stands, and what to do where it is not well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.cli.exits import Exit
from penstock.cli.findings import leave_by, show
from penstock.cli.verbs import Verb

if TYPE_CHECKING:
    from penstock.cli.site import Site


@click.command("doctor", cls=Verb)
@click.pass_obj
def command(site: Site) -> None:
    """Look at the machine, the settings, the app, the database and the work, and say what to do where it is not well.

    Nothing is changed. Exit code 5 where a problem was found.
    """
    from penstock.cli.checks import examine  # noqa: PLC0415 - only where it is needed

    found = examine(site)
    show(site.out, found)
    leave_by(found, Exit.PROBLEMS)

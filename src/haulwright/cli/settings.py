"""`haulwright settings`: every figure that can be set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import Verb
from haulwright.operations.views.health import settings_view
from haulwright.settings import application_figures

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site


@click.command("settings", cls=Verb)
@click.pass_obj
def command(site: Site) -> None:
    """List every figure, its value, where the value came from, and whose it is. Passwords are not shown.

    The last one that says something wins: the default, [tool.haulwright] in the nearest pyproject.toml, the
    environment, a flag.
    """
    settings = site.settings.all()
    rows = [
        (setting.figure.name, setting.shown, setting.origin, setting.figure.owner, setting.figure.meaning)
        for setting in settings
    ]
    table = Table(("setting", "value", "origin", "owner", "meaning"), rows)
    site.out.show(settings_view(settings), table)
    for failure in application_figures()[1]:
        site.out.note(str(failure))

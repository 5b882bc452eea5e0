"""`penstock settings`: every figure that can be set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.cli.output import Table
from penstock.cli.verbs import Verb

if TYPE_CHECKING:
    from penstock.cli.site import Site


@click.command("settings", cls=Verb)
@click.pass_obj
def command(site: Site) -> None:
    """List every figure, its value, and where the value came from. Passwords are not shown.

    The last one that says something wins: the default, [tool.penstock] in the nearest pyproject.toml, the environment,
    a flag.
    """
    found = site.settings.all()
    document = [
        {
            "name": setting.figure.name,
            "value": setting.shown if setting.figure.kind is str else setting.value,
            "origin": setting.origin,
            "meaning": setting.figure.meaning,
            "variables": list(setting.figure.variables),
        }
        for setting in found
    ]
    rows = [(setting.figure.name, setting.shown, setting.origin, setting.figure.meaning) for setting in found]
    site.out.show({"settings": document}, Table(("setting", "value", "origin", "meaning"), rows))

"""`haulwright settings`: every figure that can be set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import Verb
from haulwright.engine.durations import spell
from haulwright.operations.views.health import settings_view
from haulwright.settings import application_figures

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.settings import Setting

LONGEST_VALUE: Final = 40


@click.command("settings", cls=Verb)
@click.pass_obj
def command(site: Site) -> None:
    """List every figure, its value, where the value came from, and whose it is. Passwords are not shown.

    The last one that says something wins: the default, [tool.haulwright] in the nearest pyproject.toml, the
    environment, a flag.
    """
    settings = site.settings.all()
    rows = [
        (setting.figure.name, _value(setting), _origin(setting), setting.figure.owner, setting.figure.meaning)
        for setting in settings
    ]
    table = Table(("setting", "value", "origin", "owner", "meaning"), rows, optional_columns=("owner", "origin"))
    site.out.show(settings_view(settings), table)
    for failure in application_figures()[1]:
        site.out.note(str(failure))
    for name, hint in site.settings.unknown_variables():
        site.out.note(f"The environment sets {name}, which is no setting: it has no effect. {hint}")


def _value(setting: Setting) -> str:
    """The value in words, short enough to leave room for its meaning; JSON has all of it."""
    if setting.figure.name.endswith("_seconds") and isinstance(setting.value, int | float):
        return spell(setting.value)
    text = setting.shown
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE // 2]}…{text[-LONGEST_VALUE // 2 + 1 :]}"


def _origin(setting: Setting) -> str:
    """Where the value came from; a file as it is seen from here."""
    path = Path(setting.origin)
    return (
        str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else setting.origin
    )

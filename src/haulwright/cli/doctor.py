"""`haulwright doctor`: how this installation stands, and what to do where it is not well."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import Verb
from haulwright.errors import HaulwrightError
from haulwright.operations.views.health import findings_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.operations.findings import Finding


@click.command("doctor", cls=Verb)
@click.pass_obj
def command(site: Site) -> None:
    """Look at the machine, the settings, the app, the database and the work, and say what to do where it is not well.

    Nothing is changed. Exit code 5 where a problem was found.
    """
    show_findings(site, _examine(site))


def show_findings(site: Site, findings: Sequence[Finding]) -> None:
    """Tell all findings, the next step below each that needs one; leave by a code of its own where one is a problem."""
    rows: list[tuple[str, str, str]] = []
    for finding in findings:
        rows.append((finding.level, finding.check, finding.sentence))
        rows += [("", "", f"  next: {site.typable(finding.next_step)}")] if finding.next_step else []
    document = findings_view(findings)
    site.out.show(document, Table(("level", "check", "finding"), rows))
    if document["problems"]:
        click.get_current_context().exit(Exit.PROBLEMS)


def _examine(site: Site) -> list[Finding]:
    """An app that cannot be imported keeps nobody from looking at the rest."""
    from haulwright.client.app import Haulwright  # noqa: PLC0415 - most of a short command's time are imports

    try:
        app = site.app if site.settings["app"] else site.haulwright
    except HaulwrightError as error:
        with closing(Haulwright(str(site.settings["database_url"]))) as bare:
            return bare.operations(site.principal()).health.examine(site.settings, app_error=error)
    return app.operations(site.principal()).health.examine(site.settings)

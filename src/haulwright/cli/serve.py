"""`haulwright serve`: the HTTP API and the dashboard as a process. It opens no slots and runs no jobs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.status_line import StatusLine
from haulwright.cli.kit.verbs import Verb
from haulwright.cli.worker import FORMATS, start_logging
from haulwright.extras import needs_extra

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site


@click.command("serve", cls=Verb)
@click.option("--host", metavar="ADDRESS", help="Where to listen; else web_host of the settings, which is 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="At which port; else web_port. 0 takes one that is free.")
@click.option("--root-path", metavar="PATH", help="The prefix under which a proxy offers it, such as /haulwright.")
@click.option("--log-format", type=click.Choice(FORMATS), help="How the lines on stderr look.")
@click.option("-v", "--verbose", is_flag=True, help="Also tell of the requests of probes.")
@click.pass_obj
def command(site: Site, /, *, verbose: bool, **flags: str | int | None) -> None:
    """Answer HTTP requests: the dashboard at /ui, the API at /api/v1, its own document at /api/v1/openapi.json.

    Who calls shows a token, a person at the login of the dashboard: one of `haulwright token create`, or of your login
    where a key for those is set (jwt_jwks, jwt_public_key or jwt_secret). Where there is neither, it listens for this
    machine alone, and prints a link that lets the person at it in, once.

    SIGTERM and SIGINT end it in order: open requests are answered first. A second one does not wait for them.
    """
    from haulwright.runtime.dev_processes import SESSION_VARIABLE  # noqa: PLC0415 - as below
    from haulwright.runtime.process import tuned_interpreter  # noqa: PLC0415 - it pulls the engine in
    from haulwright.runtime.supervisor import die_with_supervisor  # noqa: PLC0415 - as above

    with needs_extra("web", "The HTTP API"):
        from haulwright.dashboard.process import open_web  # noqa: PLC0415 - only here, and not in every installation

    die_with_supervisor()
    settings = site.settings.with_flag("log_format", flags.pop("log_format"), "--log-format")
    for name, value in flags.items():
        settings = settings.with_flag(f"web_{name}", value, f"--{name.replace('_', '-')}")
    app = site.haulwright  # imported first: it may set up logging of its own
    start_logging(settings, verbose=verbose, line=StatusLine())
    with site.mention_new_file():
        app.operations(site.principal()).open_database()
    server, link = open_web(app, settings, user=site.user, secret=os.environ.pop(SESSION_VARIABLE, None))
    site.out.note(f"The API answers at {server.address}/api/v1\nThe dashboard is at {server.address}/ui")
    if link is not None:
        site.out.note(f"Nobody has a token yet. This link lets you in, once: {server.address}{link}")
    with tuned_interpreter():
        server.run()

"""`haulwright serve`: the HTTP API as a process of its own. It opens no slots and runs no jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.verbs import Verb
from haulwright.extras import needs_extra

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site


@click.command("serve", cls=Verb)
@click.option("--host", metavar="ADDRESS", help="Where to listen; else web_host of the settings, which is 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="At which port; else web_port. 0 takes one that is free.")
@click.option("--root-path", metavar="PATH", help="The prefix under which a proxy offers it, such as /haulwright.")
@click.pass_obj
def command(site: Site, host: str | None, port: int | None, root_path: str | None) -> None:
    """Answer HTTP requests: the API at /api/v1, its own document at /api/v1/openapi.json."""
    with needs_extra("web", "The HTTP API"):
        from haulwright.api.application import create_api  # noqa: PLC0415 - only here, and not in every installation
        from haulwright.api.server import ApiServer, require_closed  # noqa: PLC0415 - as above
        from haulwright.api.settings import authenticators_of  # noqa: PLC0415 - as above

    settings = site.settings.with_flag("web_host", host, "--host").with_flag("web_port", port, "--port")
    settings = settings.with_flag("web_root_path", root_path, "--root-path")
    app = site.haulwright
    with site.mention_new_file():
        app.operations(site.principal()).open_database()
    authenticators = authenticators_of(app, settings)
    require_closed(app, str(settings["web_host"]), has_jwt=len(authenticators) > 1)
    server = ApiServer(
        create_api(app, authenticators=authenticators),
        host=str(settings["web_host"]),
        port=int(settings["web_port"]),
        root_path=str(settings["web_root_path"]),
    )
    site.out.note(f"The API answers at {server.address}/api/v1")
    server.run()

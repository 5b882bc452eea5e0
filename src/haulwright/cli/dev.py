"""`haulwright dev`: a worker and the web for somebody who writes an app, started again when its code changes."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.output import write
from haulwright.cli.kit.verbs import Verb
from haulwright.client.app_finding import WAYS
from haulwright.errors import Refused
from haulwright.extras import require_extra

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site


@click.command("dev", cls=Verb)
@click.option("--port", type=click.IntRange(0, 65535), help="At which port; else web_port. 0 takes one that is free.")
@click.option("--queues", metavar="NAMES", help="The queues that the worker serves, comma separated, the first first.")
@click.option("--concurrency", type=int, metavar="N", help="Runs at once in the worker.")
@click.pass_obj
def command(site: Site, port: int | None, queues: str | None, concurrency: int | None) -> None:
    """Run a worker and the web for an app that is being written, as two processes with one log.

    When a Python file below the folder of the app changes, both are started again. One that dies is told, and started
    again after a pause. Ctrl-C ends both in order; a second one does not wait for what runs.
    """
    from haulwright.runtime.dev_processes import DevProcesses, new_session  # noqa: PLC0415 - it pulls the engine in

    require_extra("web", "The HTTP API")
    settings = site.settings.with_flag("web_port", port, "--port")
    spec = settings["app"]
    if not spec:
        raise Refused("This needs an app, and none is named.", hint=WAYS)
    folder = _folder_of(str(spec).partition(":")[0], Path(settings.setting("app").origin).parent)
    same = ["--app", str(spec), *(["--database", site.database_flag] if site.database_flag else [])]
    program = [sys.executable, "-P", "-m", "haulwright"]
    worker = [f"--{name}={value}" for name, value in (("queues", queues), ("concurrency", concurrency)) if value]
    host, number = str(settings["web_host"]), int(settings["web_port"]) or _free_port()
    commands = {
        "web": [*program, "serve", *same, f"--host={host}", f"--port={number}"],
        "worker": [*program, "worker", *same, "--no-progress", *worker],
    }
    site.out.note(f"The dashboard is at http://{host}:{number}/ui; files below {folder} are watched. Ctrl-C ends it.")
    DevProcesses(commands, folder, lambda line: write(line, err=True), {"web": new_session()}).run()


def _folder_of(module: str, project: Path) -> Path:
    """Where the code of an app is. It is not imported here: it may be broken, and will change."""
    for place in (str(project), str(Path.cwd())):
        if place not in sys.path:
            sys.path.insert(0, place)
    module_spec = find_spec(module.partition(".")[0])
    if module_spec is None or (module_spec.origin is None and not module_spec.submodule_search_locations):
        message = f"There is no module {module}, neither in {Path.cwd()} nor among the installed packages."
        raise Refused(message, hint="Go to the folder that contains it, or install it.")
    locations = module_spec.submodule_search_locations or ["."]
    return Path(module_spec.origin).parent if module_spec.origin else Path(next(iter(locations)))


def _free_port() -> int:
    """One that is free now, and stays the same when the web is started again."""
    import socket  # noqa: PLC0415 - only for this

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

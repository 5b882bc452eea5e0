"""What a shell completes beside commands and options: jobs of the database, tasks of the app.

It only looks, and says nothing where it cannot: no database is made, and what an app prints on import is not heard.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from haulwright.cli.kit.verbs import common_values
from haulwright.engine.names import declared_names

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

MOST: Final = 50
"""So many of the newest jobs are offered."""
PATIENCE_SECONDS: Final = 2.0
"""What a look may take: whoever pressed Tab waits for it."""
TAIL_CHARS: Final = 12
"""The end of an id, by which a worker's log names a job, and every command finds it."""


def complete_job(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """The newest jobs by the ends of their ids, or by whole ids where one was begun; each with its task and state."""

    def look(site: Site) -> Iterable[CompletionItem]:
        for job in site.operations().jobs.page(limit=MOST).jobs:
            for name in (job.id[-TAIL_CHARS:], job.id):
                if name.startswith(incomplete.lower()):
                    yield CompletionItem(name, help=f"{job.task} {job.state}")
                    break

    return _looked_up(ctx, look)


def complete_task(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """The tasks of the app; without one, those that workers of this database knew."""

    def look(site: Site) -> Iterable[CompletionItem]:
        if site.names_app:
            names = set(site.app.tasks)
        else:
            workers = site.operations().workers.page(everyone=True, limit=MOST).rows
            names = {name for worker in workers for name in worker.row.tasks}
        return [CompletionItem(name) for name in declared_names(names) if name.startswith(incomplete)]

    return _looked_up(ctx, look)


def _looked_up(ctx: click.Context, look: Callable[[Site], Iterable[CompletionItem]]) -> list[CompletionItem]:
    from haulwright.cli.kit.site import Site  # noqa: PLC0415 - only where a shell asks

    common = common_values(ctx)
    items: list[CompletionItem] = []

    def look_up() -> None:
        # Whatever is wrong, the command itself will tell of it. An app may even end the process when it is imported.
        with (
            suppress(BaseException),
            Site(common["app_spec"], common["database"], as_json=True, utc=False) as site,
        ):
            items.extend(look(site))

    # In a thread that nobody has to wait for: a server that is silent or an app that hangs holds no shell.
    looking = threading.Thread(target=look_up, name="haulwright-completion", daemon=True)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        looking.start()
        looking.join(PATIENCE_SECONDS)
    return [] if looking.is_alive() else items

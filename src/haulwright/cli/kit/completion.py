"""What a shell completes beside commands and options: jobs of the database, tasks of the app.

It only looks, and says nothing where it cannot: no database is made, and what an app prints on import is not heard.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from haulwright.cli.kit.verbs import common_values

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

MOST: Final = 50
"""So many of the newest jobs are offered."""
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
        return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]

    return _looked_up(ctx, look)


def _looked_up(ctx: click.Context, look: Callable[[Site], Iterable[CompletionItem]]) -> list[CompletionItem]:
    from haulwright.cli.kit.site import Site  # noqa: PLC0415 - only where a shell asks

    common = common_values(ctx)
    try:
        with (
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
            Site(common["app_spec"], common["database"], as_json=True, utc=False) as site,
        ):
            return list(look(site))
    except Exception:  # noqa: BLE001 - whatever is wrong, the command itself will tell of it
        return []

"""Which jobs: the options that lists, counts and bulk verbs share. The language is that of `operations.filters`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from haulwright.cli.kit.params import task_names

if TYPE_CHECKING:
    from haulwright.operations.filters import JobQuery

F = TypeVar("F", bound=Callable[..., Any])

WHERE_HELP = """A filter, such as 'task:price -queue:slow age:>2h args.sku:A1'; may be given several times."""


def filter_options(function: F) -> F:
    """Add the options that narrow a list of jobs."""
    for option in (
        click.option("--where", multiple=True, metavar="FILTER", help=WHERE_HELP),
        click.option("--error-code", metavar="CODE", help="Only those whose last error has this code."),
        click.option("--tag", help="Only those with this tag."),
        click.option("--tenant", help="Only those of this tenant."),
        click.option("--task", shell_complete=task_names, help="Only those of this task."),
        click.option("--queue", help="Only those in this queue."),
    ):
        function = option(function)
    return function


def job_query(where: tuple[str, ...], **options: str | None) -> JobQuery:
    """The filter that the options describe."""
    from haulwright.operations.filters import require_filter  # noqa: PLC0415 - only where something is filtered

    return require_filter(*where, what="--where", more=options)

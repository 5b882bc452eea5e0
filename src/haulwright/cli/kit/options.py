"""Options and questions that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from haulwright.errors import Refused
from haulwright.operations.views.pauses import pause_view
from haulwright.stores.paging import PAGE_LIMIT
from haulwright.visible import visible

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

F = TypeVar("F", bound=Callable[..., Any])

PAGE = 200
_PAUSED = {(True, True): "is paused", (True, False): "was paused already", (False, True): "goes on"}


def page_options(*, default: int = PAGE, metavar: str = "CURSOR") -> Callable[[F], F]:
    """How many of a list, and from where on."""
    rows = click.IntRange(1, PAGE_LIMIT)

    def decorate(function: F) -> F:
        after = click.option("--after", metavar=metavar, help="Go on behind this: what `next` of the page before says.")
        limit = click.option(
            "--limit", type=rows, default=default, show_default=True, metavar="N", help="At most so many."
        )
        return limit(after(function))

    return decorate


def tell_pause(site: Site, what: str, name: str, *, paused: bool, changed: bool) -> None:
    """The answer to a pause of something, or to a resume."""
    sentence = _PAUSED.get((paused, changed), "was not paused")
    site.out.show(pause_view(name, paused=paused, changed=changed), f"The {what} {name} {sentence}.")


def confirm(what: str, question: str, *, hint: str = "Add --yes.") -> None:
    """Ask the person at the terminal before something happens; refused where nobody is there or they say no."""
    if not sys.stdin.isatty():
        raise Refused(f"This would {what}, and nobody is here to be asked.", hint=hint)
    if not click.confirm(visible(question), err=True):
        raise Refused("Nothing was changed.")

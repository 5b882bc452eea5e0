"""How pages and actions are declared.

pages = PageRoutes("jobs")

@pages.get("/jobs", "jobs.html", "Jobs", verb="job.read")
def jobs(call: PageCall) -> JobsPage: ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from haulwright.dashboard.kit.call import PageCall
    from haulwright.dashboard.kit.forms import Form
    from haulwright.dashboard.kit.navigation import Nav

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page: a function of its call, and the template that draws what it returns, a frozen dataclass of views."""

    path: str
    template: str | None
    """None where it is data alone, for a script of a page."""
    title: str
    verb: str | None
    """Who may not do this does not see it in the navigation."""
    query: frozenset[str]
    nav: Nav | None
    function: Callable[[PageCall], Any]


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action: a function of its call and its form, which says where to go on, and with what words."""

    path: str
    verb: str
    function: Callable[[PageCall, Form], ActionDone | FormAgain]


@dataclass(frozen=True, slots=True)
class ActionDone:
    """How an action ended well."""

    text: str
    to: str
    """The address of the page that shows it."""


@dataclass(frozen=True, slots=True)
class FormAgain:
    """A form that could not be taken, drawn once more with what was typed, and what is wrong beside it."""

    template: str
    title: str
    page: Any
    """What the template shows. An action that answers so has the path of the page of its form."""


class PageRoutes:
    """The pages and actions of one noun. Paths are below the root of the dashboard."""

    def __init__(self, noun: str, *, module: str | None = None) -> None:
        """`module` is the `__file__` of an application's module, beside which its folder `templates` stands."""
        self.noun = noun
        self.templates = None if module is None else Path(module).resolve().parent / "templates"
        self.pages: list[PageSpec] = []
        self.actions: list[ActionSpec] = []

    def get(  # noqa: PLR0913 - what can be said of a page, each with a name
        self,
        path: str,
        template: str,
        title: str,
        *,
        verb: str | None = None,
        query: Sequence[str] = (),
        nav: Nav | None = None,
    ) -> Callable[[F], F]:
        """Declare a page. `query` are the words that its address may have; others are refused."""

        def decorate(function: F) -> F:
            name = template if self.templates is None else f"{self.noun}/{template}"
            self.pages.append(PageSpec(path, name, title, verb, frozenset(query), nav, function))
            return function

        return decorate

    def data(self, path: str, *, verb: str | None = None, query: Sequence[str] = ()) -> Callable[[F], F]:
        """Declare what a script of a page asks for: JSON at the path with `.json`."""

        def decorate(function: F) -> F:
            self.pages.append(PageSpec(path, None, path, verb, frozenset(query), None, function))
            return function

        return decorate

    def post(self, path: str, *, verb: str) -> Callable[[F], F]:
        """Declare an action, which a form of a page asks for."""

        def decorate(function: F) -> F:
            self.actions.append(ActionSpec(path, verb, function))
            return function

        return decorate

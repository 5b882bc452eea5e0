"""One request, as a page sees it: on whose behalf, what its address says, and how addresses of others are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from haulwright.api.kit.cursors import Cursors
from haulwright.api.kit.routes import PREFIX as API_PREFIX
from haulwright.application.application import application
from haulwright.dashboard.kit.assets import asset_path
from haulwright.dashboard.kit.turns import LIMIT, Turns
from haulwright.operations import Operations
from haulwright.operations.access import VERBS

if TYPE_CHECKING:
    from haulwright.application.application import Application
    from haulwright.client.app import Haulwright
    from haulwright.clock import Instant
    from haulwright.dashboard.kit.navigation import NavEntry
    from haulwright.dashboard.kit.notices import Notice
    from haulwright.operations.principal import Principal

ROOT: Final = "/ui"
"""Below this every page is; all else belongs to the API."""
JSON_SUFFIX: Final = ".json"


@dataclass(frozen=True)
class Addresses:
    """How the addresses of this server are written. Templates have it as `call`, also where nobody is known."""

    prefix: str
    """Under which a proxy offers this server; mostly empty."""

    def url(self, path: str, **query: object) -> str:
        """The address of a page: `url("/jobs", q="state:dead")`. What is None or empty is left out."""
        return self._address(quote(path), query)

    def link(self, *parts: str, **query: object) -> str:
        """The address of a page whose path has names in it: `link("queues", name)`."""
        return self._address("".join(f"/{quote(part, safe='')}" for part in parts), query)

    def api(self, *parts: str) -> str:
        """An address of the API: `api("jobs", job_id)`."""
        return f"{self.prefix}{API_PREFIX}" + "".join(f"/{quote(part, safe='')}" for part in parts)

    def asset(self, name: str) -> str:
        """The address of a static file; another content has another one."""
        return f"{self.prefix}{ROOT}{asset_path(name)}"

    def _address(self, path: str, query: Mapping[str, object]) -> str:
        words = {name: str(value) for name, value in query.items() if value is not None and value != ""}
        return f"{self.prefix}{ROOT}{path}" + (f"?{urlencode(words)}" if words else "")


@dataclass(frozen=True, kw_only=True)
class PageCall(Addresses):
    """What a page has in hand, and its template as `call`."""

    app: Haulwright
    principal: Principal
    operations: Operations
    route: str
    """The path that the page was declared with."""
    location: str
    """The path of this page, without the root."""
    path: Mapping[str, str]
    """The parts of the path by name."""
    query: Mapping[str, str]
    request_id: str
    is_logged_in: bool = False
    """By a session of ours, which can be ended here."""
    notice: Notice | None = None
    navigation: tuple[NavEntry, ...] = ()

    @property
    def tenant(self) -> str | None:
        """Whose rows are seen; None is every tenant."""
        return self.principal.tenant

    @cached_property
    def now(self) -> Instant:
        """The time of the database, which times are told from."""
        return self.operations.now()

    def can(self, verb: str) -> bool:
        """Whether the role may do it. Operations ask again; this is for what to show."""
        return self.principal.kind in VERBS.get(verb, ())

    def because(self, reason: str) -> Operations:
        """The operations with a reason that a form gave; without one, with that for which one acts anyway."""
        return Operations(self.app, replace(self.principal, reason=reason)) if reason.strip() else self.operations

    def application(self, name: str) -> Application:
        """An application of the app, by its name."""
        return application(name, self.app)

    def here(self, **changes: object) -> str:
        """The address of this page with other words in its query; None takes one away."""
        return self.url(self.location, **{**self.query, **changes})

    @property
    def json_url(self) -> str:
        """The data of this page."""
        return self.url(f"{self.location}{JSON_SUFFIX}", **self.query)

    def stream(self, *parts: str) -> str:
        """A stream of the API that says when this page is old; `poll` where no browser could ask for it.

        Support names its tenant in a header there, which a browser does not send with a stream.
        """
        return "poll" if self.principal.kind == "support" else f"{self.api(*parts)}/stream"

    def turns(self, *facts: str | None, limit: int = LIMIT) -> Turns:
        """The place of this page in its list. `facts` are the words that make the list what it is, such as a filter."""
        return Turns.of(self.query, Cursors(f"{ROOT}{self.route}", self.tenant, *facts), limit=limit, here=self.here)

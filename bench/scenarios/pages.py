"""What the pages of the dashboard take beside a long history: each of the navigation, for a tenant and for an admin."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator

from bench.figures import Series
from bench.lane import Bench
from bench.scenarios.long_history import LongHistory, long_history, slowest_first
from bench.workload import app
from haulwright.dashboard.kit.call import JSON_SUFFIX, ROOT
from haulwright.dashboard.site import ENGINE_PAGES, application_pages
from haulwright.operations.access import VERBS
from haulwright.operations.principal import Role

SLOWEST = "slowest page, p95"
TURNS = 3
"""How many pages further on a list is read."""


def pages(bench: Bench, database: str) -> list[Series]:
    """The p50 and the p95 of each page, its first and one further on, and the p95 of the slowest."""
    with long_history(bench, database, bench.site.address(database, f"pages_{database}")) as there:
        looks = looks_at_pages(there, bench.plan.list_looks)
    return slowest_first(bench, f"pages {database}", SLOWEST, looks)


def looks_at_pages(there: LongHistory, count: int) -> dict[str, list[float]]:
    """The milliseconds of so many looks at each page."""
    callers: tuple[tuple[Role, str], ...] = (("tenant", there.tenant), ("admin", there.admin))
    return {
        f"{name}, {role}": there.look(token, address, count)
        for role, token in callers
        for path in navigation(role)
        for name, address in _places(there, token, path)
    }


def navigation(role: Role) -> list[str]:
    """The paths of the pages that stand in the navigation of a role, without what the root adds."""
    declared = (page for noun in (*ENGINE_PAGES, *application_pages(app)) for page in noun.pages)
    return [page.path for page in declared if page.nav and (page.verb is None or role in VERBS[page.verb])]


def _places(there: LongHistory, token: str, path: str) -> Iterator[tuple[str, str]]:
    """The first page of a path, and where it is a list of several pages, one further on."""
    first = f"{ROOT}{path}"
    yield path, first
    further = first
    for _ in range(TURNS):
        following = _following(there.url, token, further)
        if following is None:
            break
        further = following
    if further != first:
        yield f"{path} further on", further


def _following(url: str, token: str, address: str) -> str | None:
    """The address of the page after this one, as the data of this one says it."""
    path, mark, query = address.partition("?")
    request = urllib.request.Request(  # noqa: S310 - a server of our own
        f"{url}{path}{JSON_SUFFIX}{mark}{query}", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        turns = json.load(answer).get("turns") or {}
    following: str | None = turns.get("next")
    return following

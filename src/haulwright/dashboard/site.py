"""The dashboard of an app: which pages there are, in the order of the navigation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from haulwright.api.application import Neighbour
from haulwright.api.limits import UploadRoute
from haulwright.dashboard.kit import assets
from haulwright.dashboard.kit.answers import go, prefix_of
from haulwright.dashboard.kit.call import ROOT, Addresses
from haulwright.dashboard.kit.forms import LARGEST_BYTES
from haulwright.dashboard.kit.site import DashboardSite
from haulwright.dashboard.login import FIRST_PAGE, Doors
from haulwright.dashboard.pages import (
    audit,
    backfill,
    bulk,
    doctor,
    errors,
    job,
    jobs,
    overview,
    queues,
    schedules,
    sources,
    tasks,
    workers,
)
from haulwright.discovery import installed_applications

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.dashboard.kit.pages import PageRoutes

ENGINE_PAGES: Final = (
    overview.pages,
    jobs.pages,
    job.pages,
    errors.pages,
    bulk.pages,
    queues.pages,
    workers.pages,
    backfill.pages,
    schedules.pages,
    sources.pages,
    audit.pages,
    doctor.pages,
    tasks.pages,
)


def dashboard(app: Haulwright) -> Neighbour:
    """The dashboard of an app, as a neighbour of its API."""
    site = DashboardSite([*ENGINE_PAGES, *application_pages(app)])

    async def lost(request: Request) -> Response:
        return await site.refuse(request, HTTPException(404), None, as_json=False)

    routes = [
        Route(f"{ROOT}{assets.PATH}", assets.serve),
        *Doors(site).routes(),
        *site.routes(),
        Route("/", _to_first_page),
        Route(ROOT, _to_first_page),
        Route(f"{ROOT}/{{rest:path}}", lost, methods=["GET", "POST"]),
    ]
    forms = UploadRoute("POST", re.compile(re.escape(ROOT) + "/"), LARGEST_BYTES, is_open=True)
    return Neighbour(routes, f"{ROOT}{FIRST_PAGE}", [forms])


async def _to_first_page(request: Request) -> Response:
    return go(Addresses(prefix_of(request)).url(FIRST_PAGE))


def application_pages(app: Haulwright) -> list[PageRoutes]:
    """What the applications of this app show; those that are not installed on it have no pages."""
    applications = installed_applications()
    parts: list[Any] = [
        applications.import_part(spec, spec.pages)
        for name, spec in applications.specs.items()
        if spec.pages is not None and name in app.applications
    ]
    return [part.pages for part in parts]

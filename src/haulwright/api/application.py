"""The API as an ASGI application: the routes of the engine, and those that applications declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI
from pydantic import TypeAdapter
from starlette.routing import BaseRoute, compile_path

from haulwright.__about__ import __version__
from haulwright.api.answers import OuterLayer
from haulwright.api.auth.api_tokens import ApiTokenAuthenticator
from haulwright.api.auth.host_login import HostLogin
from haulwright.api.auth.session import OPEN_PATH, LocalSessions, LoopbackHosts
from haulwright.api.kit.collector import Collector
from haulwright.api.kit.direct import DirectRoutes
from haulwright.api.kit.problems import ProblemView, add_handlers
from haulwright.api.kit.routes import PREFIX
from haulwright.api.limits import ApiLimits, BodyLimits, RequestRoom, UploadRoute
from haulwright.api.open_metrics import MetricsCache
from haulwright.api.reception import Reception
from haulwright.api.routes import (
    bulk,
    dead_letters,
    effects,
    events,
    health,
    jobs,
    metrics,
    overview,
    queues,
    schedules,
    sources,
    tasks,
    tokens,
    workers,
)
from haulwright.api.streams import routes as streams
from haulwright.api.streams.streams import Streams
from haulwright.discovery import installed_applications
from haulwright.operations.joint_enqueues import enqueue_jointly

if TYPE_CHECKING:
    from haulwright.api.auth.identity import Authenticator
    from haulwright.client.app import Haulwright

ENGINE_ROUTES: Final = (
    jobs.routes,
    dead_letters.routes,
    bulk.routes,
    queues.routes,
    schedules.routes,
    sources.routes,
    workers.routes,
    effects.routes,
    streams.routes,
    events.routes,
    overview.routes,
    tasks.routes,
    tokens.routes,
)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What another door answers in the same process, behind the same reception and within the same limits."""

    routes: Sequence[BaseRoute]
    first_page: str
    """Where somebody goes who has come in."""
    uploads: Sequence[UploadRoute] = ()
    """What takes a body that is no JSON."""


def create_api(  # noqa: PLR0913 - what may be said of a server, each with a name
    app: Haulwright,
    *,
    authenticators: Sequence[Authenticator] | None = None,
    limits: ApiLimits | None = None,
    sessions: LocalSessions | None = None,
    host_login: HostLogin | None = None,
    neighbour: Neighbour | None = None,
) -> FastAPI:
    """The API of an app. Nothing is opened before the first request.

    With sessions the person at this machine comes in by a link, and nobody from elsewhere.
    """
    api = FastAPI(
        title="Haulwright",
        version=__version__,
        summary="Jobs that survive crashes, effects that happen once, sources that are never hammered.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    limits, ways = limits or ApiLimits(), [ApiTokenAuthenticator(app)] if authenticators is None else authenticators
    browsers = None if sessions is None else sessions.browsers
    reception = api.state.reception = Reception(app, ways, limits=limits, sessions=browsers, host_login=host_login)
    api.state.streams, api.state.metrics, api.state.readiness = Streams(app), MetricsCache(), health.ReadinessCheck()
    api.state.joint_enqueues = Collector(partial(enqueue_jointly, app))
    nouns = (*ENGINE_ROUTES, *_application_routes(app))
    for router in (*(routes.router for routes in nouns), metrics.routes.router, health.router):
        api.router.routes += router.routes  # in one list: to look through routers within routers is not free
    if sessions is not None:
        api.add_route(OPEN_PATH, sessions.open, methods=["GET"], include_in_schema=False)
    add_handlers(api)
    uploads = [_upload_route(*upload) for routes in nouns for upload in routes.uploads]
    api.state.first_page = None
    if neighbour is not None:
        api.router.routes += neighbour.routes
        uploads += neighbour.uploads
        api.state.first_page = neighbour.first_page
    # The last one is the outermost.
    api.add_middleware(DirectRoutes, api=api)
    api.add_middleware(BodyLimits, limits=limits, identify=reception.identify, uploads=uploads)
    api.add_middleware(RequestRoom, most=limits.in_flight)
    if sessions is not None:
        api.add_middleware(LoopbackHosts)
    api.add_middleware(OuterLayer)
    _complete_document(api)
    return api


def _upload_route(method: str, path: str, most_bytes: int) -> UploadRoute:
    return UploadRoute(method, compile_path(path)[0], most_bytes)


def _application_routes(app: Haulwright) -> list[Any]:
    """What the applications of this app declare; those that are not installed on it have no routes."""
    applications = installed_applications()
    return [
        applications.import_part(spec, spec.routes).routes
        for name, spec in applications.specs.items()
        if spec.routes is not None and name in app.applications
    ]


def _complete_document(api: FastAPI) -> None:
    """Add to the API's own document what routes only refer to: the problem, and how a caller is known."""
    make = api.openapi

    def complete() -> dict[str, Any]:
        document = make()
        components = document.setdefault("components", {})
        schema = TypeAdapter(ProblemView).json_schema(ref_template="#/components/schemas/{model}")
        components.setdefault("schemas", {}).update(schema.pop("$defs", {}))
        components["schemas"]["Problem"] = schema
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"bearer": []}]
        return document

    api.openapi = complete  # type: ignore[method-assign] # as FastAPI's manual says to extend it

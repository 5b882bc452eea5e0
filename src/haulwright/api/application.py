"""The API as an ASGI application: the routes of the engine, and those that applications declare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, FastAPI
from pydantic import TypeAdapter

from haulwright.__about__ import __version__
from haulwright.api.auth.api_tokens import ApiTokenAuthenticator
from haulwright.api.kit.problems import ProblemView, add_handlers
from haulwright.api.open_metrics import MetricsCache
from haulwright.api.reception import Reception
from haulwright.api.request_ids import RequestIds
from haulwright.api.routes import jobs, metrics
from haulwright.api.streams import routes as streams
from haulwright.api.streams.streams import Streams
from haulwright.discovery import installed_applications

if TYPE_CHECKING:
    from haulwright.api.auth.identity import Authenticator
    from haulwright.client.app import Haulwright

PREFIX: Final = "/api/v1"
ENGINE_ROUTES: Final = (jobs.routes, streams.routes)


def create_api(app: Haulwright, *, authenticators: Sequence[Authenticator] | None = None) -> FastAPI:
    """The API of an app. Nothing is opened before the first request."""
    api = FastAPI(
        title="Haulwright",
        version=__version__,
        summary="Jobs that survive crashes, effects that happen once, sources that are never hammered.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    api.state.reception = Reception(app, authenticators if authenticators is not None else [ApiTokenAuthenticator(app)])
    api.state.streams = Streams(app)
    api.state.metrics = MetricsCache()
    root = APIRouter(prefix=PREFIX)
    for routes in (*ENGINE_ROUTES, *_application_routes(app)):
        root.include_router(routes.router)
    api.include_router(root)
    api.include_router(metrics.routes.router)
    add_handlers(api)
    api.add_middleware(RequestIds)
    _complete_document(api)
    return api


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

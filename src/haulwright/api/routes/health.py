"""Whether this process lives, and whether it can be given requests: for whoever starts and stops it."""

from __future__ import annotations

import threading
import time
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from typing_extensions import TypedDict

from haulwright.api.kit.problems import responses
from haulwright.api.kit.routes import BEFORE_ROUTE
from haulwright.api.reception import Reception
from haulwright.operations.readiness import Readiness, readiness

router = APIRouter(tags=["health"])

FRESH_SECONDS: Final = 1.0
"""How long an answer holds: anybody may ask, and must not burden the database with it."""
OPEN: Final[dict[str, Any]] = {"security": []}
"""Nobody has to say who they are here."""


class LivenessView(TypedDict):
    """This process lives."""

    alive: bool


class ReadinessView(TypedDict):
    """Whether requests can be answered."""

    ready: bool
    database: bool
    schema: bool
    workers_seen: int


class ReadinessCheck:
    """Asks the database now and then, one at a time; who comes meanwhile gets the last answer."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._last = Readiness(database=False, schema=False, workers_seen=0)
        self._until = 0.0

    def look(self, reception: Reception) -> Readiness:
        """How it stands, as of a second ago at most, or since the question that is still open."""
        if time.monotonic() < self._until or not self._asking.acquire(blocking=False):
            return self._last
        try:
            self._last = readiness(reception.app)
            self._until = time.monotonic() + FRESH_SECONDS
        finally:
            self._asking.release()
        return self._last


@router.get(
    "/healthz",
    summary="Say that this process lives",
    response_model=LivenessView,
    operation_id="health_alive",
    openapi_extra=OPEN,
    responses=responses(*BEFORE_ROUTE),
)
async def alive() -> LivenessView:
    """Say that this process lives. Nothing is asked of the database."""
    return {"alive": True}


@router.get(
    "/readyz",
    response_model=ReadinessView,
    summary="Say whether requests can be answered now",
    operation_id="health_ready",
    openapi_extra=OPEN,
    responses=responses(*BEFORE_ROUTE) | {503: {"model": ReadinessView, "description": "Not ready"}},
)
def ready(request: Request) -> Response:
    """Say whether the database is reachable with the right schema, and how many workers were seen lately."""
    readiness = request.app.state.readiness.look(request.app.state.reception)
    view: ReadinessView = {
        "ready": readiness.ready,
        "database": readiness.database,
        "schema": readiness.schema,
        "workers_seen": readiness.workers_seen,
    }
    return JSONResponse(view, HTTPStatus.OK if readiness.ready else HTTPStatus.SERVICE_UNAVAILABLE)

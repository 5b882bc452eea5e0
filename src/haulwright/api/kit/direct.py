"""Routes that take nothing but who calls and a body: read without the framework, which takes longer than all else.

Most requests of a busy installation are enqueues. Such a route is declared as any other and stands in the API's own
document; only its arguments are not resolved one by one, by a machinery that has to be ready for everything.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from haulwright.api.kit.call import ApiCall, call_of
from haulwright.api.kit.params import RequestBody
from haulwright.api.kit.problems import problem_for
from haulwright.api.limits import BODY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI, Response
    from starlette.types import ASGIApp, Receive, Scope, Send

CALL_PARAMETER, BODY_PARAMETER = "call", "body"


def body_model_of(hints: Mapping[str, Any]) -> type[RequestBody] | None:
    """The model of the body, where an endpoint takes that and its call alone."""
    if hints.keys() - {"return"} != {CALL_PARAMETER, BODY_PARAMETER} or get_args(hints[CALL_PARAMETER])[:1] != (
        ApiCall,
    ):
        return None
    model = hints[BODY_PARAMETER]
    return model if isinstance(model, type) and issubclass(model, RequestBody) else None


class DirectRoutes:
    """Answers requests to such routes; all others go on to the framework."""

    def __init__(self, app: ASGIApp, api: FastAPI) -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        route = None
        if scope["type"] == "http":
            path = str(scope["path"]).removeprefix(str(scope.get("root_path", "")))
            route = self._routes.get((scope["method"], path))
        if route is None:
            await self._app(scope, receive, send)
            return
        scope.update(route=route, endpoint=route.endpoint, path_params={})
        request = Request(scope, receive)
        try:
            answer = await _answer(route.endpoint, request)
        except Exception as error:  # noqa: BLE001 - what has no problem is raised again
            answer = await problem_for(request, error)
        await answer(scope, receive, send)

    @cached_property
    def _routes(self) -> dict[tuple[str, str], APIRoute]:
        """By method and path, which has no parts that differ."""
        return {
            (method, route.path): route
            for route in self._api.router.routes
            if isinstance(route, APIRoute) and getattr(route.endpoint, "body_model", None) and "{" not in route.path
            for method in route.methods or ()
        }


async def _answer(endpoint: Any, request: Request) -> Response:
    call = await call_of(request)
    text = request.scope["state"].get(BODY)
    body = _read(endpoint.body_model, await request.body() if text is None else text)
    if call.key is None and endpoint.jointly is not None:
        joint_answer: Response | None = await endpoint.jointly(call, body)
        if joint_answer is not None:
            return joint_answer
    answer: Response = await run_in_threadpool(endpoint, call=call, body=body)
    return answer


def _read(model: type[RequestBody], text: bytes) -> RequestBody:
    """A body as its model has it; what is wrong with it is told as the framework tells it."""
    if not text:
        raise RequestValidationError(
            [{"type": "missing", "loc": (BODY_PARAMETER,), "msg": "Field required", "input": None}]
        )
    try:
        return model.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        where = {"loc": (BODY_PARAMETER, error.pos), "input": {}, "ctx": {"error": error.msg}}
        wrong = {"type": "json_invalid", "msg": "JSON decode error", **where}
        raise RequestValidationError([wrong]) from error
    except ValidationError as error:
        wrongs = error.errors(include_url=False)
        raise RequestValidationError([{**wrong, "loc": (BODY_PARAMETER, *wrong["loc"])} for wrong in wrongs]) from error
    except (ValueError, RecursionError) as error:  # bytes that are no text
        raise HTTPException(400, "There was an error parsing the body") from error

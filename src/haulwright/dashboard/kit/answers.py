"""Answers of the dashboard: HTML under a strict policy, the same data as JSON, and refusals in words for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import HTMLResponse, RedirectResponse, Response

from haulwright.api.kit.problems import fault_problem, problem_for
from haulwright.dashboard.kit.call import ROOT, Addresses, PageCall

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types htmx"
)
"""Nothing is loaded from elsewhere, nothing inline runs, and no text becomes elements but by htmx, of our answers."""
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""What a page has beside the headers that every answer of this server has."""


def prefix_of(request: Request) -> str:
    """Under which a proxy offers this server."""
    return str(request.scope.get("root_path", ""))


def html(templates: Environment, template: str, *, status: int = HTTPStatus.OK, **names: Any) -> HTMLResponse:
    """A page."""
    return HTMLResponse(templates.get_template(template).render(**names), status, HEADERS)


def json_answer(page: Any) -> Response:
    """The data of a page."""
    return Response(json.dumps(document_of(page), separators=(",", ":")), media_type="application/json")


def document_of(value: Any) -> Any:
    """A dataclass of views as JSON; what is for the drawing alone is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = (field for field in fields(value) if not field.metadata.get("hidden"))
        return {field.name: document_of(getattr(value, field.name)) for field in shown}
    if isinstance(value, Mapping):
        return {str(name): document_of(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [document_of(inner) for inner in value]
    return value


def go(url: str) -> RedirectResponse:
    """On to another page of ours, which is asked for with GET."""
    return RedirectResponse(url, HTTPStatus.SEE_OTHER)


async def refusal(
    request: Request, templates: Environment, error: Exception, *, call: PageCall | None, as_json: bool
) -> Response:
    """What a request is answered that failed, as JSON or as a page."""
    try:
        problem = await problem_for(request, error)
    except Exception as unforeseen:  # noqa: BLE001 - as the API does it
        problem = fault_problem(request, unforeseen)
    if as_json:
        return problem
    names = {
        "problem": json.loads(bytes(problem.body)),
        "call": call or Addresses(prefix_of(request)),
        "layout": "base.html" if call is not None else "bare.html",
    }
    answer = html(templates, "error.html", status=problem.status_code, **names)
    answer.headers.update({"Retry-After": problem.headers["retry-after"]} if "retry-after" in problem.headers else {})
    return answer


def local_path(text: str) -> str | None:
    """A path of the dashboard that a form or an address named; None where it is none."""
    is_path = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_path and text.isascii() else None


def below_root(prefix: str, url: str) -> str | None:
    """The same of a whole address of ours, as a page writes it."""
    root = f"{prefix}{ROOT}"
    return local_path(url.removeprefix(root)) if url.startswith(f"{root}/") else None

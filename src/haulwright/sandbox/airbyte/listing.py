"""Pages of jobs, filtered and ordered as was asked."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from haulwright.sandbox.airbyte.jobs import SandboxSyncJob
from haulwright.sandbox.airbyte.problems import bad_request
from haulwright.sandbox.exchange import SandboxRequest

DEFAULT_LIMIT = 20
MOST_LISTED = 100


def page(request: SandboxRequest, path: str, documents: list[Any]) -> dict[str, Any]:
    """One page, with the addresses of its neighbours."""
    limit, offset = request.whole("limit", DEFAULT_LIMIT), request.whole("offset", 0)
    if not 1 <= limit <= MOST_LISTED:
        raise bad_request(f"limit must be between 1 and {MOST_LISTED}")
    document: dict[str, Any] = {"data": documents[offset : offset + limit]}
    if offset + limit < len(documents):
        document["next"] = _address(request, path, limit, offset + limit)
    if offset:
        document["previous"] = _address(request, path, limit, max(0, offset - limit))
    return document


def matching_jobs(request: SandboxRequest, jobs: list[SandboxSyncJob], now: float) -> list[SandboxSyncJob]:
    """The jobs that fit the query, in its order."""
    workspaces = query_values(request, "workspaceIds")
    matching = [
        job
        for job in jobs
        if request.text("connectionId") in {"", job.connection}
        and request.text("status") in {"", job.status(now)}
        and request.text("jobType") in {"", job.kind}
        and (not workspaces or job.workspace in workspaces)
        and _within(request, "createdAt", job.started)
        and _within(request, "updatedAt", job.updated(now))
    ]
    field, _, direction = (request.text("orderBy") or "createdAt|ASC").partition("|")
    if field not in {"createdAt", "updatedAt"} or direction not in {"ASC", "DESC"}:
        raise bad_request("orderBy is createdAt or updatedAt with |ASC or |DESC")
    return sorted(
        matching,
        key=lambda job: (job.started if field == "createdAt" else job.updated(now), job.id),
        reverse=direction == "DESC",
    )


def query_values(request: SandboxRequest, name: str) -> set[str]:
    """The values of a parameter that may be repeated, or hold several with commas."""
    return {value for text in request.query.get(name, ()) for value in text.split(",") if value}


def _within(request: SandboxRequest, name: str, instant: float) -> bool:
    start, end = (_instant(request, f"{name}{edge}") for edge in ("Start", "End"))
    return (start is None or instant >= start) and (end is None or instant <= end)


def _instant(request: SandboxRequest, name: str) -> float | None:
    text = request.text(name)
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise bad_request(f"{name} is no date") from None


def _address(request: SandboxRequest, path: str, limit: int, offset: int) -> str:
    kept = [
        (name, value) for name, values in request.query.items() for value in values if name not in {"limit", "offset"}
    ]
    return f"{request.base}{path}?{urlencode([*kept, ('limit', limit), ('offset', offset)])}"

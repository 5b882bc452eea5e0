"""Datasets, key-value stores and logs of runs."""

from __future__ import annotations

from typing import Any

from haulwright.sandbox.apify import shapes
from haulwright.sandbox.apify.failures import ApifyFailure, not_found
from haulwright.sandbox.apify.runs import SandboxRun
from haulwright.sandbox.exchange import SandboxReply, SandboxRequest, json_reply, text_reply

ALL_ITEMS = 999_999_999_999
"""What Apify gives as the limit where none was asked for."""


def items_page(run: SandboxRun, request: SandboxRequest, now: float) -> SandboxReply:
    """A page of items as a bare array, with the paging in the headers."""
    if request.text("format", "json") != "json":
        raise ApifyFailure(400, "invalid-value", "The sandbox gives items as JSON only")
    visible = run.items[: run.visible_items(now)]
    desc, offset, limit = request.flag("desc"), request.whole("offset", 0), request.whole("limit", ALL_ITEMS)
    ordered = visible[::-1] if desc else visible
    # As at Apify, empty items are left out after the page was cut: a page may be short and not the last.
    chosen = [_chosen(item, request) for item in ordered[offset : offset + limit]]
    if request.flag("clean") or request.flag("skipEmpty"):
        chosen = [item for item in chosen if item]
    figures = {"Total": len(visible), "Offset": offset, "Limit": limit, "Count": len(chosen), "Desc": str(desc).lower()}
    return json_reply(chosen, 200, *((f"X-Apify-Pagination-{name}", str(value)) for name, value in figures.items()))


def record(run: SandboxRun, key: str) -> SandboxReply:
    """A record of the run's key-value store: its input is the only one."""
    if key != "INPUT":
        raise not_found(f"Record {key}")
    return SandboxReply(200, run.input_body, (("Content-Type", run.input_type),))


def log(run: SandboxRun, now: float) -> SandboxReply:
    """What the run wrote while it ran."""
    lines = [
        f"{shapes.iso(run.started)} ACTOR: Pulling Docker image of build 1.4.2.",
        f"{shapes.iso(run.started)} ACTOR: Starting Docker container.",
        f"{shapes.iso(min(now, run.finishes))} INFO  {run.visible_items(now)} items stored.",
    ]
    if run.is_over(now):
        lines.append(f"{shapes.iso(run.finishes)} ACTOR: {shapes.full(run, now)['statusMessage']}")
    return text_reply("\n".join(lines) + "\n")


def _chosen(item: dict[str, Any], request: SandboxRequest) -> dict[str, Any]:
    """An item with the fields that were asked for, and none that are hidden where they have to be clean."""
    kept = set(request.text("fields").split(",")) if request.text("fields") else None
    left_out = set(request.text("omit").split(","))
    hide = request.flag("clean") or request.flag("skipHidden")
    return {
        name: value
        for name, value in item.items()
        if (kept is None or name in kept) and name not in left_out and not (hide and name.startswith("#"))
    }

"""What has to be right before a run begins, and what it will find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from haulwright.sandbox.apify.actors import Actor
from haulwright.sandbox.apify.failures import ApifyFailure
from haulwright.sandbox.apify.runs import RunScript
from haulwright.sandbox.apify.timeline import newest
from haulwright.sandbox.chance import chance
from haulwright.sandbox.exchange import SandboxRequest

DEFAULT_MEMORY_MBYTES = 1024
LEAST_MEMORY_MBYTES, MOST_MEMORY_MBYTES = 128, 32_768
DEFAULT_TIMEOUT_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class StartOrder:
    """What was asked for, and what the run is allowed."""

    actor: Actor
    input: dict[str, Any]
    timeout: float
    memory: int
    max_items: int | None
    max_charge: float | None


def read_order(request: SandboxRequest, actor: Actor) -> StartOrder:
    """A start, or the refusal that Apify gives for it."""
    document = read_input(request, actor)
    memory = request.whole("memory", DEFAULT_MEMORY_MBYTES)
    if not LEAST_MEMORY_MBYTES <= memory <= MOST_MEMORY_MBYTES or memory & (memory - 1):
        raise ApifyFailure(400, "invalid-value", "Memory must be a power of 2 between 128 and 32768 megabytes")
    max_items = request.whole("maxItems", 0) if request.text("maxItems") else None
    if max_items is not None and max_items <= 0:
        raise ApifyFailure(
            400, "max-items-must-be-greater-than-zero", "Maximum number of items must be greater than zero"
        )
    max_charge = request.number("maxTotalChargeUsd")
    if max_charge is not None and max_charge < actor.start_usd:
        message = f"Maximum total charge must be at least {actor.start_usd} USD for this Actor"
        raise ApifyFailure(400, "max-total-charge-usd-below-minimum", message)
    return StartOrder(
        actor, document, request.number("timeout", DEFAULT_TIMEOUT_SECONDS) or 0, memory, max_items, max_charge
    )


def read_input(request: SandboxRequest, actor: Actor) -> dict[str, Any]:
    """The input of a start, or the refusal that Apify gives for it."""
    try:
        document = json.loads(request.body or b"{}")
    except ValueError:
        raise ApifyFailure(400, "run-input-body-not-valid-json", "The input is not valid JSON") from None
    if not isinstance(document, dict):
        raise ApifyFailure(400, "invalid-input", "Input is not valid: it must be an object")
    if not actor.subjects(document):
        raise ApifyFailure(400, "invalid-input", "Input is not valid: it names nothing to scrape")
    return document


def find_items(seed: int, order: StartOrder, script: RunScript, now: float) -> list[dict[str, Any]]:
    """What a run finds: everything that was asked for, unless its budget ends before. `maxItems` caps only the bill."""
    actor = order.actor
    count = script.items if script.items is not None else actor.limit(order.input)
    posts = [post for subject in actor.subjects(order.input) for post in newest(seed, subject, now, count)]
    if order.max_charge is not None:
        posts = posts[: int((order.max_charge - actor.start_usd) / actor.item_usd + 1e-6)]
    return _spoiled(seed, actor, [actor.render(post) for post in posts], script.broken)


def _spoiled(seed: int, actor: Actor, items: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Make some items unusable, each in the next of the ways that happen."""
    ways: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = (
        lambda item: {name: value for name, value in item.items() if name != actor.id_field},
        lambda item: item | {actor.date_field: "yesterday-ish"},
        lambda item: item | {actor.id_field: None},
        lambda _: {"error": "not_found", "errorDescription": "Post does not exist"},
        lambda _: {},
    )
    places = chance(seed, actor.name, "broken").sample(range(len(items)), min(count, len(items)))
    for turn, place in enumerate(sorted(places)):
        items[place] = ways[turn % len(ways)](items[place])
    return items

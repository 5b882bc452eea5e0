"""An account at the sandbox's Apify, on a clock that only the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.sources.apify import Apify
from haulwright.sources.http import Http, Policy

NOON = 1_790_856_000.0
"""1 October 2026, 12:00 UTC."""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed=7, clock=SandboxClock.standing(NOON)) as sandbox:
        sandbox.apify.longest_wait_seconds = 0.05
        yield sandbox


@pytest.fixture
def http() -> Iterator[Http]:
    http = Http(policy=Policy(private=True))
    yield http
    http.close()


@pytest.fixture
def apify(sandbox: Sandbox, http: Http) -> Apify:
    return Apify(http, "token-of-mine", f"{sandbox.url}/apify")


@pytest.fixture
def awaited(http: Http) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine on an event loop of its own, and close the connections of that loop."""

    async def closing(coroutine: Coroutine[Any, Any, Any]) -> Any:
        async with http:
            return await coroutine

    return lambda coroutine: asyncio.run(closing(coroutine))

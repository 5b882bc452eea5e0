"""An application at the sandbox's Airbyte, on a clock that only the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.sources.airbyte import Airbyte
from haulwright.sources.http import Http, Policy

NOON = 1_790_856_000.0


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haulwright.sources.vendor.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("haulwright.sources.airbyte.client.LAG_SECONDS", 0.1)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed=7, clock=SandboxClock.standing(NOON)) as sandbox:
        yield sandbox


@pytest.fixture
def http() -> Iterator[Http]:
    http = Http(policy=Policy(private=True))
    yield http
    http.close()


@pytest.fixture
def airbyte(sandbox: Sandbox, http: Http) -> Airbyte:
    return Airbyte(http, "client-of-mine", "secret-of-mine", f"{sandbox.url}/airbyte/v1", clock=sandbox.clock.now)


@pytest.fixture
def connection(sandbox: Sandbox) -> str:
    return next(each.id for each in sandbox.airbyte.connections.values() if each.status == "active")


@pytest.fixture
def awaited(http: Http) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine on an event loop of its own, and close the connections of that loop."""

    async def closing(coroutine: Coroutine[Any, Any, Any]) -> Any:
        async with http:
            return await coroutine

    return lambda coroutine: asyncio.run(closing(coroutine))

"""Clients that may talk to this machine, and the servers that they talk to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from haulwright.clock import SECOND, SettableClock
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.sources.http import Http, Limits, Policy
from tests.sources.http.governors import Gate, Memory
from tests.sources.http.servers import Answer, Server

NOON = 1_790_856_000
"""1 October 2026, 12:00 UTC."""


@pytest.fixture
def client() -> Iterator[Callable[..., Http]]:
    """Makes clients that are closed after the test; this machine is allowed unless the test says otherwise."""
    made: list[Http] = []

    def make(**options: Any) -> Http:
        made.append(Http(**{"policy": Policy(private=True), "limits": Limits(total=10), **options}))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def http(client: Callable[..., Http]) -> Http:
    return client()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Starts servers that are stopped after the test."""
    with ExitStack() as stack:

        def start(*answers: Answer, **options: Any) -> Server:
            return stack.enter_context(Server(*answers, **options))

        yield start


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed=7, clock=SandboxClock.standing(NOON)) as sandbox:
        yield sandbox


@pytest.fixture
def clock(tmp_path: Any) -> SettableClock:
    clock = SettableClock(tmp_path / "clock")
    clock.set(NOON * SECOND)
    return clock


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def memory() -> Memory:
    return Memory()

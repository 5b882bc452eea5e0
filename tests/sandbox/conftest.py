"""A sandbox on a clock that only the test moves, and a client for it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import httpx2
import pytest

from haulwright.sandbox import Sandbox, SandboxClock

NOON = 1_790_856_000.0
"""1 October 2026, 12:00 UTC."""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed=7, clock=SandboxClock.standing(NOON)) as sandbox:
        sandbox.apify.longest_wait_seconds = 0.05
        yield sandbox


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[httpx2.Client]:
    # A context without certificates: loading the system's for each test would take longer than the tests.
    no_certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    mine = {"Authorization": "Bearer mine"}
    with httpx2.Client(base_url=sandbox.url, timeout=5, headers=mine, verify=no_certificates) as client:
        yield client

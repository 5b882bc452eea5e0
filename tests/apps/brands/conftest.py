"""Brands on each database, by a clock that only the test moves, with the sandbox as the outside world."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from haulwright import Haulwright
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.rows import Brand
from haulwright.apps.brands.settings import BrandSettings
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from tests.apps.brands.scenes import ACME

NOT_BY_ITSELF = "0 0 31 12 *"
"""When upkeep is due here: a test that wants it asks for it."""


@pytest.fixture
def database_url(made_database_url: str) -> str:
    return made_database_url


@pytest.fixture
def install(bench: Harness, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Brands]:
    """Puts brands on a new app of the bench, with an account at the sandbox."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
    monkeypatch.setenv("HAULWRIGHT_BRANDS_CRON", NOT_BY_ITSELF)

    def make(**figures: float) -> Brands:
        app = Haulwright()
        brands = Brands(app, figures=BrandSettings.load(**{"lag_seconds": 0.001, **figures}))
        bench.use(app)
        return brands

    return make


@pytest.fixture
def brands(install: Callable[..., Brands]) -> Brands:
    return install()


@pytest.fixture
def brand(brands: Brands) -> Brand:
    """One brand of one tenant."""
    return brands.add(ACME, "Acme", {"mission": "Coffee that is worth the walk."})


@pytest.fixture
def settle(bench: Harness) -> Callable[[], None]:
    """Work and let time pass until no job is active."""

    def run(rounds: int = 60, seconds: float = 10) -> None:
        for _ in range(rounds):
            bench.drain()
            counts = bench.store.queues.counts()
            if not any(queue.due + queue.parked + queue.running for queue in counts):
                return
            bench.advance(seconds)
        raise AssertionError("some job is still active")

    return run

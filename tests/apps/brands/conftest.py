"""Brands on each database, by a clock that only the test moves, with the sandbox as the outside world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from haulwright import Haulwright
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import BrandBrain, EnqueueResult
from haulwright.apps.brands.rows import Brand, BrandConnection, CompileRun, PaidRun
from haulwright.apps.brands.settings import BrandSettings
from haulwright.engine.ids import new_id
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from tests.apps.brands.scenes import ACME, connect, runs_of

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


@pytest.fixture
def status(brands: Brands, brand: Brand, settle: Callable[[], None]) -> Callable[..., CompileRun]:
    """Compiles these sources, and says what became of each."""

    def compiled(*sources: tuple[str, str, str], **how: Any) -> CompileRun:
        connect(brands, brand, *sources, settings={"cap": 6})
        run = brands.compile(ACME, brand.id, **how)
        settle()
        return brands.compile_run(ACME, run.id)

    return compiled


@pytest.fixture
def bought(brands: Brands, brand: Brand, settle: Callable[[], None]) -> tuple[BrandConnection, PaidRun]:
    """A source that was compiled once, with its run."""
    (connection,) = connect(brands, brand, settings={"cap": 6})
    brands.compile(ACME, brand.id)
    settle()
    return connection, runs_of(brands, connection)[0]


@pytest.fixture
def words(brands: Brands) -> BrandBrain:
    """Brands as the team's document calls them."""
    return BrandBrain(brands, ACME)


@pytest.fixture
def made(words: BrandBrain, brand: Brand) -> EnqueueResult:
    """A compile that was asked for."""
    return words.enqueue_compile_job(brand.id, new_id())


@pytest.fixture
def hurried(database_url: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Brands]:
    """Brands by the database's own clock, with runs that take no time; so it is for a worker of another process."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
    monkeypatch.setenv("HAULWRIGHT_BRANDS_POLL_INTERVAL_SECONDS", "0.05")
    sandbox.apify.script(duration_seconds=0, times=None)
    with closing(Haulwright(database_url)) as app:
        yield Brands(app)

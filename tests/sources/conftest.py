"""A bench and the outside world on one clock, for what stands before a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock import Penstock
from penstock.sandbox import Clock, Sandbox
from penstock.sources.http import Policy
from penstock.sources.source import Source
from penstock.testing.bench import Bench


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    """An empty database of each kind, by a clock that only the test moves."""
    with closing(Bench(database_url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def outside(bench: Bench) -> Iterator[Sandbox]:
    """The outside world, by the clock of the bench."""
    with Sandbox(clock=Clock(lambda: bench.clock.now() / 1_000_000)) as outside:
        yield outside


@pytest.fixture
def app() -> Penstock:
    return Penstock()


@pytest.fixture
def shop(app: Penstock) -> Iterator[Callable[..., Source]]:
    """Declares the source `files` of this app, which may talk to this machine."""
    made: list[Source] = []

    def declare(**said: Any) -> Source:
        made.append(app.source("files", **{"policy": Policy(private=True), **said}))
        return made[-1]

    yield declare
    for one in made:
        one.http.close()

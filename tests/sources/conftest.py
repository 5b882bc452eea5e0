"""A bench and the outside world on one clock, for what stands before a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from haulwright import Haulwright
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.sources.feeds import FeedLimits, reading
from haulwright.sources.feeds.feed import FeedDraft
from haulwright.sources.feeds.guard import Document, check_xml
from haulwright.sources.feeds.tree_feed import read_tree
from haulwright.sources.feeds.xml_feed import read_xml
from haulwright.sources.http import Policy
from haulwright.sources.source import Source
from haulwright.testing.harness import Harness


@pytest.fixture(autouse=True)
def _both_readers_agree(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever feed a test reads quickly, feedparser reads the same of it."""
    if not request.module.__name__.rpartition(".")[2].startswith("test_feeds"):
        return

    def compared(document: Document, url: str | None, limits: FeedLimits) -> FeedDraft | None:
        quick = read_tree(document, url, limits)
        if quick is not None:
            assert quick == read_xml(check_xml(document, limits), url)
        return quick

    monkeypatch.setattr(reading, "read_tree", compared)


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Harness]:
    """An empty database of each kind, by a clock that only the test moves."""
    with closing(Harness(database_url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def outside(bench: Harness) -> Iterator[Sandbox]:
    """The outside world, by the clock of the bench."""
    with Sandbox(clock=SandboxClock(lambda: bench.clock.now() / 1_000_000)) as outside:
        yield outside


@pytest.fixture
def app() -> Haulwright:
    return Haulwright()


@pytest.fixture
def shop(app: Haulwright) -> Iterator[Callable[..., Source]]:
    """Declares the source `files` of this app, which may talk to this machine."""
    made: list[Source] = []

    def declare(**said: Any) -> Source:
        made.append(app.source("files", **{"policy": Policy(private=True), **said}))
        return made[-1]

    yield declare
    for one in made:
        one.http.close()

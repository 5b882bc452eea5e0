"""Articles of our own, in an order in which the events are mixed."""

from __future__ import annotations

import pytest

from haulwright.apps.brief.clustering import Article
from tests.apps.brief_clustering.sample import EVENTS


@pytest.fixture(scope="session")
def labelled() -> list[tuple[str, Article]]:
    """Each report with its event: the first of every event, then the second of every event, and so on."""
    mixed = [
        (event, report)
        for reports in zip(*EVENTS.values(), strict=True)
        for event, report in zip(EVENTS, reports, strict=True)
    ]
    return [(event, Article(f"a{number}", report)) for number, (event, report) in enumerate(mixed)]


@pytest.fixture(scope="session")
def articles(labelled: list[tuple[str, Article]]) -> list[Article]:
    """The reports alone."""
    return [article for _, article in labelled]

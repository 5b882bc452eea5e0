"""The same articles in the same order give the same clusters: in any process, and wherever it stopped in between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bench.news import news
from haulwright.apps.brief.clustering import WINDOW, Clustering
from haulwright.apps.brief.clustering import clustering as rules

HOUR = 3_600_000_000
PROGRAM = """
import json, sys
from haulwright.apps.brief.clustering import Article, Clustering
clustering = Clustering()
print(json.dumps([repr(clustering.place(Article(*given))) for given in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def dated(articles):
    """The articles a few hours after one another, each third one long before the others, some without a date."""
    times = [
        None if number % 7 == 0 else number * HOUR - (WINDOW if number % 3 == 0 else 0)
        for number in range(len(articles))
    ]
    return [replace(article, published_at=at) for article, at in zip(articles, times, strict=True)]


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_any_process_places_them_alike(articles, seed):
    articles_json = json.dumps([[article.id, article.text] for article in articles])
    environment = {**os.environ, "PYTHONHASHSEED": seed}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=articles_json,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )

    here = Clustering()
    assert json.loads(done.stdout) == [repr(here.place(article)) for article in articles]


def test_wherever_it_stops_the_restored_one_goes_on_as_if_it_had_not(articles):
    unbroken = Clustering()
    expected = [unbroken.place(article) for article in articles]

    for stop in range(len(articles)):
        restored = Clustering()
        for article, placement in zip(articles[:stop], expected, strict=False):
            restored.remember(article.id, placement.signature, placement.cluster, article.published_at)

        assert restored.place(articles[stop]) == expected[stop]


def test_what_is_forgotten_is_as_if_it_had_never_been_restored(dated):
    half, limit = len(dated) // 2, 4 * HOUR
    going_on = Clustering()
    placed = [going_on.place(article) for article in dated[:half]]
    going_on.forget_before(limit)

    restored = Clustering()
    for article, placement in zip(dated[:half], placed, strict=True):
        if article.published_at is None or article.published_at >= limit:
            restored.remember(article.id, placement.signature, placement.cluster, article.published_at)

    assert 0 < len(restored) == len(going_on) < half
    assert [going_on.place(article) for article in dated[half:]] == [
        restored.place(article) for article in dated[half:]
    ]


def test_a_forgotten_article_is_not_joined_and_may_come_again(dated):
    clustering = Clustering()
    first = clustering.place(replace(dated[0], published_at=0))

    clustering.forget_before(1)

    assert len(clustering) == 0
    assert clustering.place(replace(dated[0], published_at=2)) == first


def test_the_window_never_grows_without_bound(monkeypatch):
    monkeypatch.setattr(rules, "MOST_REMEMBERED", 50)
    monkeypatch.setattr(rules, "FORGOTTEN_AT_ONCE", 10)
    clustering = Clustering()

    sizes = [len(clustering) for article, _ in zip(news(seed=1), range(120), strict=False) if clustering.place(article)]

    assert max(sizes) == 50
    assert min(sizes[50:]) == 41

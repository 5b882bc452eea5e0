"""What it costs to place an article among few and among many."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

from bench.figures import MILLISECONDS, Series
from bench.lane import Bench
from bench.news import news
from haulwright.apps.brief.clustering import Article, Clustering

SEED = 7
FEW = "small window"
MANY = "large window"
SCENARIO = "clustering none"


def placing(bench: Bench, _database: str) -> list[Series]:
    """The mean time to place an article while the window holds so many, at two sizes of it."""
    plan, clustering = bench.plan, Clustering()
    # Made before the clock starts: what is measured is the placing.
    articles = iter(list(islice(news(SEED), plan.news_many + plan.rounds * plan.news_part)))
    found = []
    for name, size in ((FEW, plan.news_few), (MANY, plan.news_many)):
        for article in islice(articles, size - len(clustering)):
            clustering.place(article)
        runs = tuple(_mean(clustering, articles, plan.news_part) for _ in range(plan.rounds))
        bench.say(f"  clustering: {size:,} remembered: {runs[-1]:.2f} {MILLISECONDS} an article")
        found.append(Series(SCENARIO, name, MILLISECONDS, runs, {"remembered": size}, plan.news_part))
    return found


def _mean(clustering: Clustering, articles: Iterator[Article], count: int) -> float:
    """Milliseconds for each of the next so many."""
    began = time.perf_counter()
    for article in islice(articles, count):
        clustering.place(article)
    return (time.perf_counter() - began) * 1000 / count

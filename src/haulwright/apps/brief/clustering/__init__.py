"""Clustering: news into the events that they tell of, deterministic, one article at a time, without a database."""

from __future__ import annotations

from haulwright.apps.brief.clustering.clustering import VERSION, WINDOW, Article, Clustering, Placement

__all__ = ["VERSION", "WINDOW", "Article", "Clustering", "Placement"]

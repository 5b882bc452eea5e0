"""Feeds: RSS, Atom and JSON Feed from bytes, each entry with one key, whatever state the feed is in."""

from __future__ import annotations

from penstock.sources.feeds.feed import Entry, Feed, Limits
from penstock.sources.feeds.reading import parse_feed

__all__ = ["Entry", "Feed", "Limits", "parse_feed"]

"""Feeds: RSS, Atom and JSON Feed from bytes, each entry with one key, whatever state the feed is in."""

from __future__ import annotations

from haulwright.sources.feeds.feed import Entry, Feed, FeedLimits
from haulwright.sources.feeds.reading import parse_feed

__all__ = ["Entry", "Feed", "FeedLimits", "parse_feed"]

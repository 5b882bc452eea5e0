"""How often the jobs of prices run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright import Retry

COLLECT_RETRY: Final = Retry(5, base="1 min", cap="24 h", jitter=0)
"""Scraping a price: 1 min doubling."""

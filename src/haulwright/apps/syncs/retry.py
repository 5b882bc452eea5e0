"""How often the jobs of syncs run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright import Retry

SYNC_RETRY: Final = Retry(6, base="60 s", cap="3600 s", jitter=0.25)
"""A connector's sync: 60 s doubling, give or take a quarter; five retries."""

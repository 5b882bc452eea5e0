"""How often the jobs of documents run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright import Retry

FETCH_RETRY: Final = Retry(5)
"""Fetching a document."""

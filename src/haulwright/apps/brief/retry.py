"""How often the jobs of the brief run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright import Retry

SLOT_RETRY: Final = Retry(3)
"""One slot of the daily brief; 1 attempt would be its at-most-once rule."""

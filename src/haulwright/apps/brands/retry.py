"""How often the jobs of brands run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright import Retry

BACKOFF_BASE_SECONDS: Final = 30
BACKOFF_MULTIPLIER: Final = 2
DEFAULT_STALE_LOCK_MINUTES: Final = 10
"""The lease of a compile, which a living worker renews."""
COMPILE_RETRY: Final = Retry(
    3, base=BACKOFF_BASE_SECONDS, factor=BACKOFF_MULTIPLIER, cap="1 h", jitter=0, first_exponent=1
)
"""Compiling a brand: 60 s, 120 s, dead."""

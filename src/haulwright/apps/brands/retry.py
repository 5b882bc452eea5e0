"""How often the jobs of brands run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright import Retry

COMPILE_RETRY: Final = Retry(3, base="30 s", cap="1 h", jitter=0, first_exponent=1)
"""Compiling a brand: 60 s, 120 s, dead."""

"""How long a proof by time lasts: its full size where it was asked for by name, a few minutes beside the others."""

from __future__ import annotations

import os

MINUTES_VARIABLE = "MINUTES"
ONLY_VARIABLE = "ONLY"
AMONG_OTHERS = 2.0
SLACK_SECONDS = 1_800
"""What a proof may need beyond its minutes: to begin, to drain, and to be judged."""


def minutes_of(part: str, full: float) -> float:
    """What `MINUTES=` says; else the full size where `ONLY=` names this part, and a few minutes where it does not."""
    if given := os.environ.get(MINUTES_VARIABLE):
        return float(given)
    return full if part in os.environ.get(ONLY_VARIABLE, "") else AMONG_OTHERS


def patience_seconds(minutes: float) -> float:
    """After how long a proof of so many minutes is given up."""
    return minutes * 60 + SLACK_SECONDS

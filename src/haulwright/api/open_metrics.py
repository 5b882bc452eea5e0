"""Figures in the OpenMetrics text format, as monitors scrape it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from haulwright.operations.metrics import Labels, MetricFamily

MEDIA_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
KEPT_SECONDS: Final = 10.0
"""How long one reading of the figures answers everybody who asks."""
LONGEST_LABEL_CHARS: Final = 120


class MetricsCache:
    """The last text. Who asks while it is made waits for it, so that the database is asked once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = ""
        self._until = 0.0

    def text(self, read: Callable[[], Sequence[MetricFamily]]) -> str:
        """The figures as text, at most some seconds old."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._text = open_metrics(read())
                self._until = time.monotonic() + KEPT_SECONDS
            return self._text


def open_metrics(families: Sequence[MetricFamily]) -> str:
    """Families of figures as text."""
    lines: list[str] = []
    for family in families:
        lines += [f"# TYPE {family.name} {family.type}", f"# HELP {family.name} {_escape(family.help)}"]
        lines += [f"{family.name}{sample.suffix}{_labels(sample.labels)} {sample.value:g}" for sample in family.samples]
    return "\n".join([*lines, "# EOF", ""])


def _labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escape(value[:LONGEST_LABEL_CHARS])}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

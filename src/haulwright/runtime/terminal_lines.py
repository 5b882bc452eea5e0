"""Log lines on a terminal: short, one a job, in colour. In a file they are complete: see `log_lines`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from haulwright.engine.durations import spell
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.redaction import redact
from haulwright.visible import visible, visible_line

TAIL_CHARS: Final = 12
"""So much of the end of a job's id: the random part, by which every command finds it."""
SHOWN_NAMES: Final = 6
_LEFT_OUT: Final = frozenset({"worker", "fence", "correlation", "job", "task", "tenant", "attempt", "seconds"})
"""What is told in words of its own, or not at all: the lines of one terminal are those of one worker."""
_COLOURS: Final = {logging.DEBUG: "2", logging.WARNING: "33", logging.ERROR: "31", logging.CRITICAL: "1;31"}
_GREEN: Final = "32"
_DIM: Final = "2"
_SUCCEEDED: Final = "job succeeded"
_STARTED: Final = "worker started"


class TerminalFormatter(logging.Formatter):
    """Lines for the person at the terminal."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback where there is one."""
        facts: Mapping[str, Any] = getattr(record, "facts", {})
        message = visible_line(redact(record.getMessage()))
        colour = _GREEN if message == _SUCCEEDED else _COLOURS.get(record.levelno, "")
        if message == _STARTED:
            words = _started(facts)
        else:
            words = [
                *_job_words(facts),
                *(_pair(name, value) for name, value in facts.items() if name not in _LEFT_OUT),
            ]
        tail = visible_line(redact("  ".join(word for word in words if word)))
        line = f"{self._painted(self.formatTime(record, '%H:%M:%S'), _DIM)} {self._painted(message, colour)}"
        line = f"{line}  {tail}" if tail else line
        return f"{line}\n{visible(redact(self.formatException(record.exc_info)))}" if record.exc_info else line

    def _painted(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour and colour else text


def _started(facts: Mapping[str, Any]) -> list[str]:
    """Where it works, and on what."""
    return [
        f"{facts.get('worker', '')} on {facts.get('database', '')}",
        f"queues: {_names(facts.get('queues', ()))}",
        f"tasks: {_names(facts.get('tasks', ()))}",
        f"schedules: {_names(facts.get('schedules', ()))}",
        f"{facts.get('concurrency', '')} at once",
    ]


def _job_words(facts: Mapping[str, Any]) -> list[str]:
    """Which job it is about, and how long it took."""
    if "job" not in facts:
        return []
    attempt = str(facts.get("attempt", ""))
    return [
        f"{facts.get('task', '')} {str(facts['job'])[-TAIL_CHARS:]}".strip(),
        "" if facts.get("tenant", DEFAULT_TENANT) == DEFAULT_TENANT else f"of {facts['tenant']}",
        "" if attempt.startswith(("0/", "1/")) or not attempt else f"attempt {attempt}",
        spell(facts["seconds"]) if "seconds" in facts else "",
    ]


def _pair(name: str, value: Any) -> str:
    if name.endswith("_seconds") and isinstance(value, int | float):
        return f"{name.removesuffix('_seconds')} {spell(value)}"
    return f"{name} {_names(value) if isinstance(value, list | tuple) else value}"


def _names(names: Any) -> str:
    shown = ", ".join(map(str, names[:SHOWN_NAMES])) or "none"
    return shown if len(names) <= SHOWN_NAMES else f"{shown} and {len(names) - SHOWN_NAMES} more"

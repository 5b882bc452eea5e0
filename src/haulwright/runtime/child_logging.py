"""What tasks in child processes log: it goes over the pipe to the worker, whose handlers write it beside all else."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haulwright.runtime.task_logging import facts_of_run, quieten_talkative

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = frozenset({str, int, float, bool, type(None)})
_NOT_SENT = frozenset({"args", "exc_info", "message", "asctime", "relativeCreated", "msg", "facts"})
"""What a record has for its own process alone, or what is made of the rest."""


@dataclass(frozen=True, slots=True)
class ChildRecord:
    """From the child: a line that it logged, in plain values that travel."""

    fields: dict[str, Any]

    def write(self) -> None:
        """Have it written here as if it had been logged here. What goes wrong with that is not the run's matter."""
        record = logging.makeLogRecord(self.fields)
        logger = logging.getLogger(record.name)
        with suppress(Exception):  # a handler of somebody's that raises
            if logger.isEnabledFor(record.levelno):
                logger.handle(record)


class PipeHandler(logging.Handler):
    """Sends each record to the parent."""

    def __init__(self, send: Callable[[object], None]) -> None:
        super().__init__()
        self._send = send
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Send it with all that it says; a parent that is gone reads nothing more.

        Nothing that can be wrong with a line ends the task that logs it: as by Python's handlers, it is told on stderr.
        """
        try:
            fields = {name: _plain(value) for name, value in vars(record).items() if name not in _NOT_SENT}
            fields["msg"] = _message_of(record)
            fields["facts"] = {str(name): _plain(value) for name, value in facts_of_run(record).items()}
            if record.exc_info:
                fields["exc_text"] = self._formatter.formatException(record.exc_info)
            with suppress(OSError):
                self._send(ChildRecord(fields))
        except Exception:  # noqa: BLE001 - as said above
            self.handleError(record)


def _plain(value: Any) -> Any:
    """A value that any process can read: as it is where it is plain, else as text. Its class may not be known there."""
    return value if type(value) in _PLAIN else str(value)


def send_logs(send: Callable[[object], None], level: int) -> None:
    """Have the records of this process go to its parent. An app that set up logging itself is left as it is."""
    root = logging.getLogger()
    if root.handlers:
        return
    quieten_talkative()
    root.addHandler(PipeHandler(send))
    root.setLevel(level)


def _message_of(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - as Python's own handlers: a line that cannot be made ends no task
        return f"{record.msg} {record.args}"

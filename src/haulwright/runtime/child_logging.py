"""What tasks in child processes log: it goes over the pipe to the worker, whose handlers write it beside all else."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haulwright.runtime.task_logging import facts_of_run, quieten_talkative

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class ChildRecord:
    """From the child: a line that it logged, in plain values that travel."""

    fields: dict[str, Any]

    def write(self) -> None:
        """Have it written here as if it had been logged here."""
        record = logging.makeLogRecord(self.fields)
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)


class PipeHandler(logging.Handler):
    """Sends each record to the parent."""

    def __init__(self, send: Callable[[object], None]) -> None:
        super().__init__()
        self._send = send
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Send it; a parent that is gone reads nothing more."""
        facts = facts_of_run(record)
        text = None if record.exc_info is None else self._formatter.formatException(record.exc_info)
        fields = {
            "name": record.name,
            "levelno": record.levelno,
            "levelname": record.levelname,
            "msg": _message_of(record),
            "exc_text": text or record.exc_text,
            "created": record.created,
            "msecs": record.msecs,
            "pathname": record.pathname,
            "filename": record.filename,
            "module": record.module,
            "lineno": record.lineno,
            "funcName": record.funcName,
            "process": record.process,
            "processName": record.processName,
            "threadName": record.threadName,
            "facts": {name: value if isinstance(value, _PLAIN) else str(value) for name, value in facts.items()},
        }
        with suppress(OSError):
            self._send(ChildRecord(fields))


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

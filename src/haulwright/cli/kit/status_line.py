"""One line on stderr about long work: rewritten in place on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from haulwright.cli.kit.output import LINE_EVERY_SECONDS
from haulwright.errors import DatabaseProblem
from haulwright.operations.views.queues import progress_facts, progress_words
from haulwright.visible import visible_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from haulwright.operations import Operations
    from haulwright.operations.progress import QueueProgress

ON_TERMINAL_SECONDS = 1.0
_ERASE = "\r\x1b[K"

log = logging.getLogger("haulwright.progress")


class StatusLine:
    """The last line of a terminal. Whoever writes beside it takes it away first."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._text = ""

    def draw(self, text: str) -> None:
        """Show this instead of what was shown."""
        with self._lock:
            self._text = visible_line(text)[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"{_ERASE}{self._text}")
            sys.stderr.flush()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Take the line away, and bring it back."""
        with self._lock:
            if not self._text:
                yield
                return
            sys.stderr.write(_ERASE)
            yield
            self.draw(self._text)

    def end(self) -> None:
        """Leave what was shown last as an ordinary line."""
        with self._lock:
            if self._text:
                sys.stderr.write("\n")
                sys.stderr.flush()
            self._text = ""


class LineHandler(logging.StreamHandler):  # type: ignore[type-arg] # generic for type checkers only
    """Writes lines above the status line."""

    def __init__(self, line: StatusLine) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        with self._line.away():
            super().emit(record)


@contextmanager
def progress(operations: Operations, queues: Collection[str], line: StatusLine) -> Iterator[None]:
    """While this lasts, tell how far the queues are: on the status line of a terminal, else in the log."""
    stop = threading.Event()
    watch = threading.Thread(
        target=_watch, args=(operations, queues, line, stop), name="haulwright-progress", daemon=True
    )
    watch.start()
    try:
        yield
    finally:
        stop.set()
        watch.join(ON_TERMINAL_SECONDS)  # a database that does not answer keeps nobody from ending


def _watch(operations: Operations, queues: Collection[str], line: StatusLine, stop: threading.Event) -> None:
    show, every = _display(line)
    while not stop.is_set():
        with suppress(DatabaseProblem), operations.overview.tally(queues) as tally:
            while not stop.is_set():
                with suppress(DatabaseProblem):  # the worker tells of it, and tries again
                    show(tally.look())
                stop.wait(every)
            show(tally.look(at_last=True))
        stop.wait(every)
    line.end()


def _display(line: StatusLine) -> tuple[Callable[[QueueProgress], None], float]:
    if sys.stderr.isatty():
        return lambda progress: line.draw(progress_words(progress)), ON_TERMINAL_SECONDS
    return lambda progress: log.info("progress", extra={"facts": progress_facts(progress)}), LINE_EVERY_SECONDS

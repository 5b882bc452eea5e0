"""One line on stderr about long work: rewritten in place on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from penstock.cli.output import LINE_EVERY_SECONDS
from penstock.engine.words import spell
from penstock.errors import DatabaseProblem

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.cli.top_pace import Standing

ON_TERMINAL_SECONDS = 1.0
_ERASE = "\r\x1b[K"

log = logging.getLogger("penstock.progress")


class StatusLine:
    """The last line of a terminal. Whoever writes beside it takes it away first."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._text = ""

    def draw(self, text: str) -> None:
        """Show this instead of what was shown."""
        with self._lock:
            self._text = text[: shutil.get_terminal_size().columns - 1]
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
def progress(database_url: str, queues: Collection[str], line: StatusLine) -> Iterator[None]:
    """While this lasts, tell how far the queues are: on the status line of a terminal, else in the log."""
    ended = threading.Event()
    watch = threading.Thread(
        target=_watch, args=(database_url, queues, line, ended), name="penstock-progress", daemon=True
    )
    watch.start()
    try:
        yield
    finally:
        ended.set()
        watch.join(ON_TERMINAL_SECONDS)  # a database that does not answer keeps nobody from ending


def _watch(database_url: str, queues: Collection[str], line: StatusLine, ended: threading.Event) -> None:
    from penstock.cli.top_pace import Tally  # noqa: PLC0415 - it pulls the engine in
    from penstock.stores.opening import open_database  # noqa: PLC0415 - as above
    from penstock.stores.store import Store  # noqa: PLC0415 - as above

    show, every = _mouth(line)
    with closing(Store(open_database(database_url, pool_size=1))) as store:
        tally: Tally | None = None
        over = False
        while not over:
            with suppress(DatabaseProblem):  # the worker tells of it, and tries again
                tally = tally or Tally(store, queues)
                show(tally.look())
            over = ended.wait(every)
        if tally is not None:
            with suppress(DatabaseProblem):
                show(tally.look(at_last=True))
    line.end()


def _mouth(line: StatusLine) -> tuple[Callable[[Standing], None], float]:
    if sys.stderr.isatty():
        return lambda standing: line.draw(in_words(standing)), ON_TERMINAL_SECONDS
    return _log, LINE_EVERY_SECONDS


def in_words(standing: Standing) -> str:
    """How far it is, for people."""
    eta = standing.eta_seconds
    parts = [
        f"done {standing.done}",
        f"failed {standing.failed}",
        f"left {standing.left}",
        f"{standing.rate:.1f}/s",
        *([f"ETA {spell(round(eta))}"] if eta is not None and standing.left else []),
        *([f"later {standing.parked}"] if standing.parked else []),
    ]
    return ", ".join(parts)


def _log(standing: Standing) -> None:
    eta = standing.eta_seconds
    facts = {
        "done": standing.done,
        "failed": standing.failed,
        "left": standing.left,
        "per_second": round(standing.rate, 1),
        "eta_seconds": None if eta is None else round(eta),
        "later": standing.parked,
    }
    log.info("progress", extra={"facts": {name: value for name, value in facts.items() if value is not None}})

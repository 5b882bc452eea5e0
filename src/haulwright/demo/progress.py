"""Watching the acts: a bar for each on a terminal, else a line when one is over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from haulwright.application.scenario import Act


class DemoProgress:
    """How far the acts are."""

    def __init__(self, acts: Sequence[Act], say: Callable[[str], None]) -> None:
        self._acts = acts
        self._say = say
        self._over: set[str] = set()
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        self._bars: dict[str, Callable[[int, int], None]] = self._drawn() if sys.stderr.isatty() else {}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Take the bars away."""
        self._opened.close()

    def look(self) -> float:
        """The share of all work that is done."""
        share = 0.0
        for act in self._acts:
            reached = act.look()
            share += min(1.0, reached.done / reached.total) / len(self._acts)
            if act.name in self._bars:
                self._bars[act.name](reached.done, reached.total)
            if reached.is_end and act.name not in self._over:
                self._over.add(act.name)
                self._say(f"{act.name}: done")
        return 1.0 if len(self._over) == len(self._acts) else min(share, 0.999)

    def _drawn(self) -> dict[str, Callable[[int, int], None]]:
        from rich.console import Console  # noqa: PLC0415 - only where something is drawn
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - as above

        columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn())
        drawing = self._opened.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))

        def bar(name: str) -> Callable[[int, int], None]:
            task = drawing.add_task(name, total=None)
            return lambda done, total: drawing.update(task, completed=done, total=total)

        return {act.name: bar(act.name) for act in self._acts}

"""Watching the acts: a bar for each on a terminal, and lines above the bars; elsewhere the lines alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from haulwright.application.scenario import Act
from haulwright.demo.waits import Wait
from haulwright.visible import visible_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

WAITS_EVERY_SECONDS: Final = 0.5
"""How often it is looked up what the acts wait for: a countdown of whole seconds needs no more."""
WORTH_SAYING_SECONDS: Final = 3.0
"""A shorter wait is not told where no bar counts it down."""

Waits = Callable[[], Mapping[str, Wait]]
"""What the acts wait for now, by the name of the act."""


class DemoProgress:
    """How far the acts are. Whatever is said while the bars are drawn goes above them, through the same display."""

    def __init__(self, acts: Sequence[Act], note: Callable[[str], None], waits: Waits = dict) -> None:
        self._acts = acts
        self._note = note
        self._waits = waits
        self._begun = time.monotonic()
        self._over: set[str] = set()
        self.waiting: Mapping[str, Wait] = {}
        """What acts wait for, by their names, as it was looked up last."""
        self._waits_read_at = float("-inf")
        self._said_waits: set[str] = set()
        self._opened = ExitStack()
        self._display: Progress | None = None
        self._bars: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._draw()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Take the bars away."""
        self._opened.close()
        self._display = None

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return time.monotonic() - self._begun

    def say(self, text: str) -> None:
        """Tell what happens, with its time: above the bars where there are some, for they own the end of the screen."""
        line = visible_line(f"{self.seconds:5.1f} s  {text}")
        if self._display is None:
            self._note(line)
        else:
            self._display.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def look(self) -> float:
        """The share of all work that is done."""
        self._read_waits()
        share = 0.0
        for act in self._acts:
            reached = act.look()
            share += min(1.0, reached.done / reached.total) / len(self._acts)
            if reached.is_end and act.name not in self._over:
                self._over.add(act.name)
                self.say(f"{act.name}: done")
            wait = None if reached.is_end else self.waiting.get(act.name)
            if self._display is not None:
                words = wait.in_words() if wait else ""
                self._display.update(self._bars[act.name], completed=reached.done, total=reached.total, wait=words)
            elif wait is not None:
                self._say_wait(act.name, wait)
        return 1.0 if len(self._over) == len(self._acts) else min(share, 0.999)

    def _read_waits(self) -> None:
        if time.monotonic() - self._waits_read_at >= WAITS_EVERY_SECONDS:
            self.waiting, self._waits_read_at = self._waits(), time.monotonic()

    def _say_wait(self, act: str, wait: Wait) -> None:
        """A line for a long wait, once: there is no bar that counts it down."""
        if wait.seconds >= WORTH_SAYING_SECONDS and wait.job_id not in self._said_waits:
            self._said_waits.add(wait.job_id)
            self.say(f"{act}: {wait.in_words()}")

    def _draw(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - only where something is drawn
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - as above

        columns = (
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=30, complete_style="cyan", finished_style="green", pulse_style="cyan"),
            MofNCompleteColumn(),
            TextColumn("{task.fields[wait]}", style="dim", markup=False),
        )
        display = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bars = {act.name: display.add_task(act.name, total=None, wait="") for act in self._acts}
        self._display = self._opened.enter_context(display)

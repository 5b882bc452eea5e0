"""Two acts without an outside world, watched on whatever stderr is; run as a program by the tests of the demo."""

from __future__ import annotations

import click

from haulwright.application.scenario import Reached
from haulwright.demo.progress import DemoProgress
from haulwright.demo.waits import Wait

LOOKS = 6


class ScriptedAct:
    """Comes one step further at each look."""

    def __init__(self, name, steps):
        self.name, self._steps, self._done = name, steps, 0

    def look(self):
        self._done = min(self._done + 1, self._steps)
        return Reached(self._done, self._steps)


def main():
    def note(text):
        click.echo(text, err=True)  # as commands do

    waits = {"second": Wait("a", "fetch is tried again", 7.2)}
    watch = DemoProgress([ScriptedAct("first", 3), ScriptedAct("second", LOOKS)], note, lambda: waits)
    watch.say("two acts begin")
    with watch:
        for look in range(LOOKS):
            watch.look()
            if watch._display is not None:
                watch._display.refresh()  # as the clock would
            if look == 1:
                watch.say("kill -9 first: it held 9 jobs")
    note("the end")


if __name__ == "__main__":
    main()

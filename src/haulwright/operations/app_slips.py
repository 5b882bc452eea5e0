"""What an app and its worker may say, and hardly anybody means: queues that nobody serves, sources that nobody made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright

SHOWN_NAMES: Final = 5


def queue_slips(app: Haulwright, served: Collection[str], *, chosen: bool) -> Iterator[tuple[str, str]]:
    """What a worker of these queues would wait for in vain, each with what to type; `chosen` where somebody named them.

    Who names some of the queues of an app means it. Who names none, or one to which no task goes, may not know.
    """
    queues = {task.options.queue for task in app.tasks.values()}
    missing = sorted(queues.difference(served))
    if not missing or not served:
        return
    names = _names(missing)
    if queues.isdisjoint(served):
        sentence = f"no task of the app goes to the queue {_names(sorted(served))} that is served here, but to {names}"
        yield sentence, f"haulwright worker --queues {','.join(missing)}"
    elif not chosen:
        sentence = f"tasks of the app go to the queue {names}, which is served only where it is named"
        yield sentence, f"haulwright worker --queues {','.join([*served, *missing])}"


def source_slips(app: Haulwright) -> Iterator[tuple[str, str]]:
    """Tasks that name a source which the app does not have, so that nothing governs it; each with what to write."""
    for task in app.tasks.values():
        key = task.options.source
        if isinstance(key, str) and key not in app.sources:
            near = get_close_matches(key, app.sources, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Declare it: app.source({key!r}, rate='30/min')"
            yield f"the task {task.name!r} names the source {key!r}, which the app does not declare", hint


def _names(names: list[str]) -> str:
    more = len(names) - SHOWN_NAMES
    return ", ".join(map(repr, names[:SHOWN_NAMES])) + (f" and {more} more" if more > 0 else "")

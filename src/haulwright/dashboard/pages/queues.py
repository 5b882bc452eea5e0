"""Queues: what waits and runs in each, who serves it, and whether somebody paused it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final, Literal

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.queries import jobs_query
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.operations.views.queues import QueueView, queue_view

pages = PageRoutes("queues")

QueuePart = Literal["due", "parked", "running", "dead", "all"]
_WORDS: Final[dict[QueuePart, str]] = {
    "due": "state:queued due:>0s ",
    "parked": "state:queued due:<0s ",
    "running": "state:running ",
    "dead": "state:dead requeued:false ",
    "all": "",
}
"""What finds just the jobs that a figure counts, beside the name of the queue."""


@dataclass(frozen=True, slots=True)
class QueuesPage:
    """The queues by name."""

    queues: list[QueueView]
    turns: Turns

    @staticmethod
    def query(queue: QueueView, part: QueuePart) -> str:
        """The filter that finds jobs of a queue."""
        return _query(queue, part)


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One queue."""

    queue: QueueView

    def query(self, part: QueuePart) -> str:
        """The filter that finds its jobs."""
        return _query(self.queue, part)

    @property
    def serving(self) -> str:
        """What to type to have it served."""
        return f"haulwright worker --queues {shlex.quote(self.queue['name'])}"


@pages.get("/queues", "queues.html", "Queues", verb="queue.read", nav=Nav("Queues", key="q"), query=PAGED)
def queues(call: PageCall) -> QueuesPage:
    """The queues by name: those with jobs, and those that are paused."""
    turns = call.turns()
    page = call.operations.queues.page(after=turns.after, limit=turns.limit)
    return QueuesPage([queue_view(queue) for queue in page.rows], turns.then(page.next))


@pages.get("/queues/{name:path}", "queue.html", "Queue", verb="queue.read")
def queue(call: PageCall) -> QueuePage:
    """One queue. One that nobody uses has nothing waiting, and can be paused before it is used."""
    return QueuePage(queue_view(call.operations.queues.get(call.path["name"])))


@pages.post("/queues/{name:path}/pause", verb="queue.pause")
def pause(call: PageCall, form: Form) -> ActionDone:
    """Stop claims from a queue."""
    name = call.path["name"]
    changed = call.because(form.text("reason")).queues.pause(name)
    text = f"The queue {name} is paused: what runs goes on, nothing new begins."
    return ActionDone(text if changed else f"The queue {name} was paused already.", to=call.link("queues", name))


@pages.post("/queues/{name:path}/resume", verb="queue.resume")
def resume(call: PageCall, form: Form) -> ActionDone:
    """Let claims go on."""
    name = call.path["name"]
    changed = call.because(form.text("reason")).queues.resume(name)
    text = f"The queue {name} goes on." if changed else f"The queue {name} was not paused."
    return ActionDone(text, to=call.link("queues", name))


def _query(queue: QueueView, part: QueuePart) -> str:
    return _WORDS[part] + jobs_query(queue=queue["name"])

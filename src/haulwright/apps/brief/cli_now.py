"""What a command of the brief does at once: it enqueues as a schedule would, and is the worker that does it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haulwright import State
from haulwright.errors import Refused

if TYPE_CHECKING:
    from haulwright import Haulwright, Job
    from haulwright.apps.brief.application import Brief
    from haulwright.cli.kit.site import Site

QUEUE = "brief"
WORKER = "haulwright worker -A haulwright.apps.brief.worker:app --queues brief"


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a job: its result, or why it has none."""

    job: Job
    result: Any

    @property
    def waits(self) -> bool:
        """Whether a worker has to finish it later: a gate is closed, or it is tried again."""
        return self.job.state in {State.QUEUED, State.RUNNING}

    @property
    def trouble(self) -> str:
        """Why it has no result, in a line."""
        return self.job.error_message or self.job.reason or self.job.waiting_on or ""


def brief_of(site: Site) -> Brief:
    """The application."""
    brief: Brief = site.application("brief")
    return brief


def work(site: Site, job_ids: Sequence[str]) -> list[Ending]:
    """Run what is due of the brief here and now, no slot of a schedule, and return what became of these jobs."""
    with _findable(brief_of(site).app) as app:
        app.run_worker(queues=(QUEUE,), until_empty=True, schedules=False, signals=True)
    operations = site.operations()
    jobs = [operations.jobs.get(job_id) for job_id in job_ids]
    return [Ending(job, None if job.result is None else json.loads(job.result)) for job in jobs]


@contextmanager
def _findable(app: Haulwright) -> Iterator[Haulwright]:
    """An app that child processes find by its name: the one that was named, or that of the brief's own worker.

    A job whose worker died runs in a process of its own.
    """
    if _has_address(app):
        yield app
        return
    from haulwright.apps.brief.worker import app as own  # noqa: PLC0415 - it makes an app

    with own.moved_to(app.database_url):
        yield own


def _has_address(app: Haulwright) -> bool:
    try:
        app.address()
    except Refused:
        return False
    return True


def cluster_now(site: Site) -> None:
    """Gather the articles that wait in the database into events, for every tenant."""
    handles = brief_of(site).cluster(site.principal())
    endings = work(site, [handle.id for handle in handles])
    placed = {ending.job.tenant: ending.result for ending in endings if ending.job.state is State.SUCCEEDED}
    waiting = [ending for ending in endings if ending.waits]
    document = {"articles": sum(placed.values()), "tenants": placed, "waiting": len(waiting)}
    summary = f"{document['articles']} articles were placed." if placed else "No articles wait."
    site.out.show(document, summary, *(f"{ending.job.tenant} waits: {ending.trouble}" for ending in waiting))
    site.out.next_step(WORKER if waiting else "haulwright brief publish" if placed else "")


def count_outcomes(endings: Sequence[Ending]) -> dict[str, int]:
    """What reading feeds came to."""
    results = [ending.result for ending in endings if ending.result is not None]
    outcomes = Counter(result["outcome"] for result in results)
    return {
        "feeds": len(endings),
        **{word: outcomes[word] for word in ("read", "unchanged", "failed")},
        "waiting": sum(ending.waits for ending in endings),
        **{word: sum(result[word] for result in results) for word in ("new", "edited", "repeated", "refused")},
    }


def troubles(site: Site, endings: Sequence[Ending]) -> list[str]:
    """The feeds that were not read, each with its address and why."""
    lines = []
    for ending in endings:
        why = ending.trouble if ending.waits else (ending.result or {}).get("error")
        if why:
            feed_id = json.loads(ending.job.args)["feed_id"]
            feed = brief_of(site).get_feed(site.principal().for_tenant(ending.job.tenant), feed_id)
            lines.append(f"  {feed.url}: {why}")
    return lines

"""Every operation of the engine's API, from its own document: what it takes, and the verb that it needs.

A route without an entry here fails the tests: nobody said who may call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from haulwright import Haulwright
from haulwright.api.application import create_api
from haulwright.api.kit.routes import PREFIX
from tests.api.scenes import SOURCE, Belongings

OPEN = {"health_alive", "health_ready"}
"""For anybody, without a token."""

VERB_OF = {
    "jobs_enqueue": "job.enqueue",
    "jobs_enqueue_many": "job.enqueue",
    "jobs_list": "job.read",
    "jobs_show": "job.read",
    "jobs_detail": "job.read",
    "jobs_timeline": "job.read",
    "jobs_effects": "effect.read",
    "jobs_why": "job.read",
    "jobs_cancel": "job.cancel",
    "jobs_retry": "job.retry",
    "dead_letters_list": "dead.read",
    "dead_letters_counts": "dead.read",
    "dead_letters_groups": "dead.read",
    "dead_letters_requeue": "dead.requeue",
    "dead_letters_requeue_many": "dead.requeue",
    "bulk_preview": "bulk.preview",
    "bulk_start": "bulk.start",
    "bulk_list": "bulk.read",
    "bulk_show": "bulk.read",
    "bulk_stop": "bulk.stop",
    "queues_list": "queue.read",
    "queues_show": "queue.read",
    "queues_pause": "queue.pause",
    "queues_resume": "queue.resume",
    "schedules_list": "schedule.read",
    "schedules_show": "schedule.read",
    "schedules_slots": "schedule.read",
    "schedules_upcoming": "schedule.read",
    "schedules_trigger": "schedule.trigger",
    "schedules_backfill": "schedule.backfill",
    "schedules_pause": "schedule.pause",
    "schedules_resume": "schedule.resume",
    "sources_list": "source.read",
    "sources_show": "source.read",
    "sources_pause": "source.pause",
    "sources_resume": "source.resume",
    "sources_set_limits": "source.override",
    "sources_reset_limits": "source.override",
    "workers_list": "worker.read",
    "effects_unresolved": "effect.read",
    "effects_resolve": "effect.resolve",
    "events_list": "event.read",
    "overview_show": "overview.read",
    "tasks_list": "task.read",
    "tokens_create": "token.create",
    "tokens_list": "token.read",
    "tokens_revoke": "token.revoke",
}
ELSEWHERE = {
    "streams_events": "event.read",
    "streams_job_events": "job.read",
    "streams_overview": "overview.read",
    "metrics_metrics": "metrics.read",
}
"""What goes on and on, and what stands beside the API: their own tests say the same of them."""

_HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
BODIES: Mapping[str, dict[str, Any]] = {
    "jobs_enqueue": {"task": "add", "args": {"a": 1}},
    "jobs_enqueue_many": {"jobs": [{"task": "add", "args": {"a": 1}}]},
    "bulk_preview": {"act": "cancel"},
    "bulk_start": {"act": "cancel"},
    "schedules_trigger": {"scheduled_for": (_HOUR - timedelta(hours=9)).isoformat()},
    "schedules_backfill": {
        "first": (_HOUR - timedelta(hours=8)).isoformat(),
        "last": (_HOUR - timedelta(hours=7)).isoformat(),
    },
    "sources_set_limits": {"rate": "30/min"},
    "effects_resolve": {"key": "EFFECT", "happened": False},
    "tokens_create": {"name": "program"},
}
"""What an operation with a body is called with, where an empty one does not do."""


@dataclass(frozen=True)
class ApiOperation:
    """One method of one path."""

    id: str
    method: str
    path: str
    has_body: bool

    @property
    def verb(self) -> str:
        """What its caller must be allowed to do."""
        return VERB_OF[self.id]

    def request(self, things: Belongings) -> dict[str, Any]:
        """A request for somebody's belongings, in the words of an HTTP client."""
        request: dict[str, Any] = {"method": self.method, "url": self._url(things)}
        if self.has_body:
            body = dict(BODIES.get(self.id, {}))
            request["json"] = {**body, "key": things.effect} if "key" in body else body
        return request

    def names_something(self) -> bool:
        """Whether it is about one thing of a tenant. Sources and the pauses of queues are the whole fleet's."""
        if self.id == "effects_resolve":
            return True
        return (
            "{" in self.path
            and not self.id.startswith("sources")
            and not self.verb.startswith(("queue.p", "queue.res"))
        )

    def _url(self, things: Belongings) -> str:
        named = {"queues": things.queue, "schedules": things.schedule, "sources": SOURCE}.get(self.path.split("/")[1])
        jobs = {"dead-letters": things.dead, "bulk": things.bulk}
        job = jobs.get(self.path.split("/")[1], things.job)
        return self.path.format(name=named, job_id=job, prefix=things.token)


@cache
def api_operations() -> list[ApiOperation]:
    """All that need a token, what looks before what acts."""
    document = create_api(Haulwright()).openapi()
    found = [
        ApiOperation(operation["operationId"], method.upper(), path.removeprefix(PREFIX), "requestBody" in operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in OPEN | ELSEWHERE.keys()
    ]
    return sorted(found, key=lambda operation: operation.method != "GET")

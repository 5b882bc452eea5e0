"""Single enqueues of many requests at once: each checked as if it came alone, those of a tenant written together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright import events
from haulwright.client.store_view import seen_through
from haulwright.errors import DatabaseProblem
from haulwright.operations.jobs import JobOperations, NewCall
from haulwright.operations.request_stores import store_for
from haulwright.stores.enqueue_problems import not_tried
from haulwright.stores.grouped_enqueues import EnqueueRequest, may_ride
from haulwright.stores.job_rows import EnqueuedBy

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.engine.job import Enqueued
    from haulwright.operations.principal import Principal
    from haulwright.stores.store import Store


@dataclass(frozen=True, slots=True)
class CallOfRequest:
    """One job that a request asks for."""

    principal: Principal
    call: NewCall
    request_id: str


def enqueue_jointly(app: Haulwright, requests: Sequence[CallOfRequest]) -> list[Enqueued | Exception | None]:
    """Enqueue jobs of many requests; of each what stands for it, or why it is refused.

    None for a job that may have to wait for somebody, such as one with a unique key: it has to go by itself.
    """
    outcomes: list[Enqueued | Exception | None] = [None] * len(requests)
    of_stores: defaultdict[Store, dict[int, EnqueueRequest]] = defaultdict(dict)
    outage: DatabaseProblem | None = None
    for number, request in enumerate(requests):
        try:
            store, new = _checked(app, request, outage)
        except Exception as error:  # noqa: BLE001 - the answer to this one; the others are not concerned
            outcomes[number] = error
            outage = _outage_of([error]) or outage
        else:
            if may_ride(new.job):
                of_stores[store][number] = new
    for store, group in of_stores.items():
        written = _written(store, list(group.values()), outage)
        outage = _outage_of(written) or outage
        for (number, new), outcome in zip(group.items(), written, strict=True):
            outcomes[number] = outcome
            if not isinstance(outcome, Exception):
                app.note_enqueued([new.job], [outcome])
    return outcomes


def _outage_of(outcomes: Iterable[object]) -> DatabaseProblem | None:
    """What a request met that all others would meet as well. Each would wait for it, one after the other."""
    return next((outcome for outcome in outcomes if isinstance(outcome, DatabaseProblem)), None)


def _written(
    store: Store, requests: Sequence[EnqueueRequest], outage: DatabaseProblem | None
) -> list[Enqueued | Exception]:
    if outage is not None:
        return [not_tried(outage) for _ in requests]
    return store.grouped_enqueues.enqueue_all(requests)


def _checked(app: Haulwright, request: CallOfRequest, outage: DatabaseProblem | None) -> tuple[Store, EnqueueRequest]:
    """The job of a request, if its principal may have it, and where it goes.

    A refusal is written down with the id of the request.
    """
    if outage is not None:
        raise not_tried(outage)
    token = events.request_id.set(request.request_id)
    try:
        store = store_for(app, request.principal)
        with seen_through(app, store):
            job = JobOperations(app, request.principal).check(request.call)
            return store, EnqueueRequest(job, EnqueuedBy(request.principal.actor, request.principal.reason))
    finally:
        events.request_id.reset(token)

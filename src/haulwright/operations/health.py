"""Is all well here? From the machine up to the work, and down into the rows. Nothing is made and nothing changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from haulwright.clock import SECOND, host_now
from haulwright.engine.durations import spell
from haulwright.engine.outcome import REASON_UNREADABLE, UNKNOWN_TASK_GATE
from haulwright.engine.transitions import State
from haulwright.errors import HaulwrightError
from haulwright.events import UNREADABLE
from haulwright.operations.access import allowed
from haulwright.operations.concerns import LATE_SECONDS
from haulwright.operations.findings import Finding, examine, has_problem, ok, problem, warn
from haulwright.operations.installation import (
    look_at_app,
    look_at_database,
    look_at_python,
    look_at_second_wall,
    look_at_settings,
)
from haulwright.operations.onlooker import Onlooker
from haulwright.stores import migrations
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT, every_row

if TYPE_CHECKING:
    from haulwright.settings import Setting, Settings
    from haulwright.stores.store import Store

SKEW_SECONDS = 2.0
"""A host whose clock differs more from the database's shows times that mislead; no lease depends on it."""
OPEN_TRANSACTION_SECONDS = 60.0
"""A transaction that is open for longer keeps rows from being freed, and followers waiting where it wrote an event."""
SHOWN_QUEUES = 100
SHOWN_TRANSACTIONS = 5
SHOWN_TASKS = 5
QUESTIONS = {
    "leases": (
        "every running job has its whole lease",
        "running jobs have no whole lease",
        "haulwright job list --state running",
    ),
    "twice": (
        "no job is active and finished at once",
        "jobs are active and finished at once",
        "Stop the workers and restore a backup.",
    ),
    "permits": (
        "every permit is held for a job that runs",
        "permits are held for jobs that do not run, and block their key",
        "haulwright job list --where waiting_on:concurrency:KEY shows who waits.",
    ),
    "slots": (
        "every slot that fired names its job",
        "slots that fired name no job",
        "haulwright schedule show NAME",
    ),
    "blobs": (
        "every large result is where its effect says",
        "large results are gone, and their effects cannot be replayed",
        "Requeue their jobs with --fresh if doing it again is safe.",
    ),
    "payloads": (
        "every job has its arguments",
        "jobs have lost their large arguments, and cannot run",
        "Restore a backup, or enqueue them again from where their arguments came from.",
    ),
}
"""What is counted of rows that contradict others: what none means, what some mean, and what to do."""


class Health(Onlooker):
    """How an installation stands. It works on a database that is missing or behind, and makes none."""

    @allowed("health.read")
    def examine(self, settings: Settings, *, app_error: HaulwrightError | None = None) -> list[Finding]:
        """Every check from the machine up to the work; those of the work only where the database can be read.

        A door that could not import the app gives the error, and everything else is looked at all the same.
        """
        findings = [
            *examine("python", look_at_python),
            *examine("settings", lambda: look_at_settings(settings)),
            *examine("app", lambda: look_at_app(self._app, settings, app_error)),
        ]
        try:
            with self._app.existing_store() as store:
                return [*findings, *_look_at_store(store, self._app.tables)]
        except HaulwrightError as error:
            return [*findings, problem("database", error.message, error.hint)]

    @allowed("health.read")
    def verify(self, *, stuck_effect_seconds: float) -> list[Finding]:
        """Whether what the database holds is sound: the schema, the file, and what must agree between the tables."""
        with self._app.existing_store() as store:
            if store is None:
                return [warn("schema", "there is no database yet: it is made on first use", "haulwright db migrate")]
            schema = examine("schema", lambda: _schema_as_applied(store))
            if has_problem(schema):
                return schema
            return [
                *schema,
                *examine("file", lambda: _file(store)),
                *examine("rows", lambda: _rows(store)),
                *examine("effects", lambda: _abandoned_effects(store, stuck_effect_seconds)),
            ]

    @allowed("settings.read")
    def settings(self, settings: Settings) -> list[Setting]:
        """Every figure that can be set, with its value and origin. Views of it show no secret."""
        return settings.all()


def _look_at_store(store: Store | None, tables: Sequence[str]) -> list[Finding]:
    if store is None:
        return [warn("database", "there is no database yet: it is made on first use")]
    findings = [
        *examine("database", lambda: look_at_database(store)),
        *examine("schema", lambda: _schema(store)),
    ]
    if not has_problem(finding for finding in findings if finding.check in {"database", "schema"}):
        findings += [
            *examine("wall", lambda: look_at_second_wall(store, tables)),
            *examine("clock", lambda: _clock(store)),
            *examine("transactions", lambda: _transactions(store)),
            *examine("rows", lambda: _unreadable(store)),
            *examine("work", lambda: _work(store)),
        ]
    return findings


def _schema(store: Store) -> Iterator[Finding]:
    state = migrations.status(store.database)
    if state.current:
        yield ok("schema", f"version {state.applied}, current")
        return
    way = "haulwright db migrate, or start a worker." if store.database.dialect == "sqlite" else "haulwright db migrate"
    yield problem("schema", f"version {state.applied} of {state.known}", way)


def _clock(store: Store) -> Iterator[Finding]:
    before = host_now()
    theirs = store.now()
    skew = (theirs - (before + host_now()) / 2) / SECOND
    if abs(skew) <= SKEW_SECONDS:
        yield ok("clock", "this host and the database agree about the time")
        return
    sentence = f"the database's clock is {spell(abs(skew))} {'ahead of' if skew > 0 else 'behind'} this host's"
    yield warn(
        "clock", sentence, "Leases are safe, for only its clock counts; set the host's clock right all the same."
    )


def _transactions(store: Store) -> Iterator[Finding]:
    transactions = store.integrity.open_transactions(OPEN_TRANSACTION_SECONDS, SHOWN_TRANSACTIONS)
    if not transactions and store.database.dialect == "postgres":
        yield ok("transactions", f"none is open for longer than {spell(OPEN_TRANSACTION_SECONDS)}")
    for transaction in transactions:
        sentence = f"{transaction.owner} has a transaction open for {spell(transaction.open_us // SECOND)}"
        if transaction.wrote_events:
            sentence += " in which it wrote events: whoever follows events waits for its end"
        yield warn("transactions", sentence, "Commit or end it: rows that were removed since cannot be freed.")


def _unreadable(store: Store) -> Iterator[Finding]:
    """Rows that this version leaves alone; `unreadable` jobs are buried when they are claimed."""
    way = "Upgrade Haulwright on this host, or mend the row; all others go on."
    rows = store.unreadable_rows()
    for row in rows:
        yield problem("rows", f"the {row.noun} {row.name!r} cannot be read by this version: {row.why}", way)
    broken = [event.seq for event in store.events.latest(limit=PAGE_LIMIT) if UNREADABLE in event.data]
    if broken:
        sentence = (
            f"{len(broken)} of the newest {PAGE_LIMIT} events have data that cannot be read, the last is {broken[-1]}"
        )
        yield warn("rows", sentence, "They are shown with the text that stands in their row.")
    counts = every_row(lambda after: store.listing.dead_counts(after=after))
    dead = sum(row.count for row in counts if row.error_code == REASON_UNREADABLE)
    if dead:
        way = f"haulwright dead list --where error_code:{REASON_UNREADABLE}"
        yield warn("rows", f"{dead} dead letters could not be read when they were to run", way)
    if not rows and not broken and not dead:
        yield ok("rows", "every schedule, source and worker can be read")


def _work(store: Store) -> Iterator[Finding]:
    workers = store.workers.list()
    serving = Counter(queue for worker in workers for queue in worker.queues)
    served = ", ".join(f"{queue} ({count})" for queue, count in sorted(serving.items()))
    if workers:
        yield ok("workers", f"{len(workers)} live; queues served: {served}")
    else:
        yield warn("workers", "no live worker", "haulwright worker")
    yield from _queues(store, serving)
    yield from _unknown_tasks(store)
    yield from _leases(store, alive=bool(workers))


def _queues(store: Store, serving: Counter[str]) -> Iterator[Finding]:
    now = store.now()
    page = store.queues.page(limit=SHOWN_QUEUES, bounded=True)
    for queue in page.rows:
        if queue.paused_at is not None:
            sentence = f"the queue {queue.name!r} is paused, with {_counted(queue.due, more=queue.more_due)} due jobs"
            yield warn("queue", sentence, f"haulwright queue resume {queue.name}")
        elif queue.due and not serving[queue.name]:
            sentence = (
                f"the queue {queue.name!r} has {_counted(queue.due, more=queue.more_due)} due jobs and no live worker"
            )
            yield problem("queue", sentence, f"haulwright worker --queues {queue.name}")
        elif queue.oldest is not None and (now - queue.oldest) / SECOND > LATE_SECONDS:
            sentence = f"the oldest job of the queue {queue.name!r} is due for {spell((now - queue.oldest) // SECOND)}"
            way = "Start more workers, or look at what they do: haulwright job list --state running"
            yield warn("queue", sentence, way)
        else:
            due, parked = _counted(queue.due, more=queue.more_due), _counted(queue.parked, more=queue.more_parked)
            yield ok("queue", f"{queue.name!r}: {due} due, {parked} parked, {queue.running} running")
    if page.next is not None:
        way = f"haulwright queue list --after {page.next}"
        yield warn("queue", f"there are more queues than the first {SHOWN_QUEUES}, which were looked at", way)


def _counted(count: int, *, more: bool) -> str:
    return f"{count}{'+' if more else ''}"


def _unknown_tasks(store: Store) -> Iterator[Finding]:
    """Jobs that a worker took and gave back, for its app has no such task: mostly it was started with another app."""
    page = store.listing.page(JobFilter(state=State.QUEUED, waiting_on=UNKNOWN_TASK_GATE), limit=PAGE_LIMIT)
    if not page.jobs:
        return
    count = f"{len(page.jobs)}{'' if page.next is None else ' and more'}"
    tasks = sorted({job.task for job in page.jobs})
    sentence = f"{count} jobs wait for a worker that knows their task: {', '.join(tasks[:SHOWN_TASKS])}"
    yield warn("tasks", sentence, "Start a worker with the app that declares it, or cancel the jobs.")


def _leases(store: Store, *, alive: bool) -> Iterator[Finding]:
    now = store.now()
    page = store.listing.stuck(JobFilter(), before=now, limit=PAGE_LIMIT)
    if not page.jobs:
        yield ok("leases", "no lease has run out")
        return
    count = f"{len(page.jobs)}{'' if page.next is None else ' and more'}"
    silent = min(page.jobs, key=lambda job: job.heartbeat_at or now)
    silence = spell((now - (silent.heartbeat_at or now)) // SECOND)
    sentence = f"{count} leases have run out, the longest without a heartbeat for {silence}: job {silent.id}"
    if alive:
        yield warn("leases", sentence, "The next sweep of a live worker takes them back.")
    else:
        yield problem("leases", sentence, "Start a worker: it takes them back.")


def _schema_as_applied(store: Store) -> Iterator[Finding]:
    state = migrations.status(store.database)
    if state.current:
        yield ok("schema", f"version {state.applied}, and every migration is the one that was applied")
    else:
        yield problem("schema", f"version {state.applied} of {state.known}", "haulwright db migrate")


def _file(store: Store) -> Iterator[Finding]:
    damage = store.integrity.damaged_pages()
    if damage:
        way = "Stop the workers, keep a copy of the file and its -wal, restore a backup."
        yield problem("file", "; ".join(damage), way)
    else:
        yield ok("file", "the database finds nothing wrong with its pages")


def _rows(store: Store) -> Iterator[Finding]:
    for name, count in store.integrity.unsound().items():
        good, bad, way = QUESTIONS[name]
        yield problem(name, f"{count} {bad}", way) if count else ok(name, good)


def _abandoned_effects(store: Store, seconds: float) -> Iterator[Finding]:
    effects = store.effects.abandoned(seconds)
    if not effects:
        yield ok("effects", "no effect was begun and left")
        return
    _, _, name, job_id, _ = effects[0]
    sentence = f"{len(effects)} effects were begun and never settled, and their job is over; the first is {name!r}"
    yield warn("effects", sentence, f"haulwright effect list {job_id}")

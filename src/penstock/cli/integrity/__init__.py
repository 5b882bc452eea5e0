"""Questions that a sound database answers with nothing. They only read, and each is one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.findings import Finding, ask, ok, problem, warn
from penstock.stores import migrations
from penstock.stores.books import book

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.stores.connection import Row
    from penstock.stores.store import Store

QUESTIONS = {
    "leases": (
        "every running job has its whole lease",
        "running jobs have no whole lease",
        "penstock job list --state running",
    ),
    "twice": (
        "no job is active and finished at once",
        "jobs are active and finished at once",
        "Stop the workers and restore a backup.",
    ),
    "permits": (
        "every permit is held for a job that runs",
        "permits are held for jobs that do not run, and block their key",
        "penstock job list --where waiting_on=concurrency:KEY shows who waits.",
    ),
    "slots": (
        "every slot that fired names its job",
        "slots that fired name no job",
        "penstock schedule show NAME",
    ),
    "blobs": (
        "every large result is where its effect says",
        "large results are gone, and their effects cannot be replayed",
        "Requeue their jobs with --fresh if doing it again is safe.",
    ),
}
"""Each entry of the book that counts: what none means, what some mean, and what to do."""


def verify(site: Site) -> list[Finding]:
    """Look at the schema, the file, and what must agree between the tables."""
    store = site.untouched
    if store is None:
        return [warn("schema", "there is no database yet", "It is made on first use.")]
    schema = ask("schema", lambda: _schema(store))
    if any(one.level == "problem" for one in schema):
        return schema
    stuck = float(site.settings["stuck_effect_seconds"])
    return [
        *schema,
        *ask("file", lambda: _file(store)),
        *ask("rows", lambda: _rows(store)),
        *ask("effects", lambda: _abandoned(store, stuck)),
    ]


def kind_of(store: Store) -> str:
    """What the database is, with its version."""
    ((told,),) = _answers(store, "kind")
    return str(told)


def _schema(store: Store) -> Sequence[Finding]:
    state = migrations.status(store.database)
    if state.current:
        return [ok("schema", f"version {state.applied}, and every migration is the one that was applied")]
    return [problem("schema", f"version {state.applied} of {state.known}", "penstock db migrate")]


def _file(store: Store) -> Sequence[Finding]:
    """What the database itself says about its file; PostgreSQL checks its pages when it reads them."""
    bad = [str(line) for (line,) in _answers(store, "file") if line != "ok"]
    if bad:
        return [
            problem("file", "; ".join(bad), "Stop the workers, keep a copy of the file and its -wal, restore a backup.")
        ]
    return [ok("file", "the database finds nothing wrong with its pages")]


def _rows(store: Store) -> Sequence[Finding]:
    found: list[Finding] = []
    for name, (good, bad, next_step) in QUESTIONS.items():
        ((count,),) = _answers(store, name)
        found.append(problem(name, f"{count} {bad}", next_step) if count else ok(name, good))
    return found


def _abandoned(store: Store, seconds: float) -> Sequence[Finding]:
    left = store.effects.abandoned(seconds)
    if left:
        _, _, name, job_id, _ = left[0]
        told = f"{len(left)} effects were begun and never settled, and their job is over; the first is {name!r}"
        return [warn("effects", told, f"penstock effect list {job_id}")]
    return [ok("effects", "no effect was begun and left")]


def _answers(store: Store, name: str) -> list[Row]:
    entry = book(__name__, store.database.dialect, "integrity")[name]
    return store.database.read(lambda connection: connection.all(entry, {}))

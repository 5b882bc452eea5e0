"""What a run tries that does not know that it is dead: every verb, through every door."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from haulwright import Context, LeaseLost
from haulwright.client.signals import Signals
from haulwright.engine.outcome import Bury, Cancel, Done, Failure, Outcome, RetryLater, Skip, Snooze
from haulwright.engine.retry import Retry
from haulwright.engine.settlement import RELEASE, Settlement, resolve
from haulwright.stores.commit_groups import CommitRequest
from haulwright.stores.effects import Begun
from proof.support.diary import Diary
from proof.support.machine import MACHINE

PATIENCE_SECONDS = 90
FAILURE = Failure("ValueError", "boom", "it went wrong")
OUTCOMES: dict[str, Outcome] = {
    "settle": Done('"by a zombie"'),
    "retry": RetryLater(FAILURE),
    "snooze": Snooze(60),
    "skip": Skip("by a zombie"),
    "cancel": Cancel("by a zombie"),
    "bury": Bury("by a zombie"),
}
VERBS = {
    "ctx": {"effect settle", "progress", "effect", "commit", "commit and settle", "stage", "check"},
    "deaf ctx": {"progress", "effect", "commit", "commit and settle", "stage"},
    "store": {
        "renew", "hold", "progress", "effect begin", "effect settle", "effect forget", "effect unknown", "commit",
        "commit together", "stage", "release", *OUTCOMES,
    },
}  # fmt: skip
"""Everything that is tried, door by door. A deaf context did not hear its worker say that the lease is lost."""


class Afterlife:
    """The tries of one run, each written down with its answer."""

    def __init__(self, ctx: Context, diary: Diary) -> None:
        self._ctx = ctx
        self._diary = diary

    def try_everything(self) -> None:
        """Every verb through the run's own context, through one that heard nothing, and through the store."""
        self._through_context("ctx", self._ctx)
        self._wait_to_be_told()
        self._try("ctx", "check", self._ctx.check)
        self._through_context("deaf ctx", Context(self._ctx.job, self._ctx.store, Signals()))
        self._through_store()

    def _wait_to_be_told(self) -> None:
        """The next heartbeat of the worker learns that the lease is gone, and says so to the run."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._ctx.signals.lost and time.monotonic() < until:
            time.sleep(0.01)

    def _through_context(self, door: str, ctx: Context) -> None:
        self._try(door, "progress", lambda: ctx.progress(0.9))
        self._try(door, "effect", lambda: ctx.effect("late", self._must_not_run, key="late"))
        self._try(door, "commit", lambda: ctx.commit("late", self._must_not_run))
        self._try(door, "commit and settle", lambda: ctx.commit("late", self._must_not_run, settle=True))
        self._try(door, "stage", lambda: ctx.stage("SAVED", MACHINE))

    def _commit_late(self) -> object:
        """A commit as a context makes it, without asking the signals of the run first."""
        store, lease = self._ctx.store, self._ctx.job
        work = partial(store.effects.commit_on, lease=lease, key="late", name="late", act=self._must_not_run)
        return store.effects.under(lease, "commit", work)

    def _commit_together_late(self) -> object:
        """The same in a transaction that others share."""
        late = CommitRequest(self._ctx.job, "late", "late", self._must_not_run, None, "")
        return self._ctx.store.commits.commit_together([late])

    def _through_store(self) -> None:
        store, lease = self._ctx.store, self._ctx.job
        self._try("store", "renew", lambda: lease.id not in store.leases.renew([lease]).lost)
        self._try("store", "hold", lambda: store.database.transact(lambda c: store.leases.hold(c, lease)))
        self._try("store", "progress", lambda: store.leases.progress(lease, '{"done":1}'))
        self._try("store", "effect begin", lambda: store.effects.begin(lease, "late", "late"))
        self._try("store", "effect settle", lambda: store.effects.settle(lease, self._key(), '"by a zombie"'))
        self._try("store", "effect forget", lambda: store.effects.forget(lease, self._key(), Begun("done")))
        self._try("store", "effect unknown", lambda: store.effects.mark_unknown(lease, self._key(), "wait"))
        self._try("store", "commit", self._commit_late)
        self._try("store", "commit together", self._commit_together_late)
        self._try("store", "stage", lambda: store.effects.move(lease, MACHINE, "SAVED"))
        self._try("store", "release", lambda: store.settlements.settle([Settlement(lease, RELEASE)]))
        for verb, outcome in OUTCOMES.items():
            settlement = Settlement(lease, resolve(outcome, lease, Retry(), lambda: 0.5))
            self._try("store", verb, partial(store.settlements.settle, [settlement]))

    def _key(self) -> str:
        """The key of the effect that this run had begun and its successor now does."""
        (row,) = self._ctx.store.effects.of_job(self._ctx.job.tenant, self._ctx.job.job_key)
        return row.key

    def _must_not_run(self, *_: Any) -> str:
        self._diary.write("write", self._ctx.job.id, self._ctx.job.fence, door="function", verb="act", accepted=True)
        return "by a zombie"

    def _try(self, door: str, verb: str, act: Callable[[], Any]) -> None:
        """A refusal is LeaseLost or an empty answer; whatever else comes back was accepted."""
        try:
            answer = act()
            accepted = answer is None or bool(answer)
        except LeaseLost:
            accepted = False
        self._diary.write("write", self._ctx.job.id, self._ctx.job.fence, door=door, verb=verb, accepted=accepted)

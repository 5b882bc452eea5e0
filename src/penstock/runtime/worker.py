"""The worker: claim, hand over, settle, again. Its loops stand on threads and connections of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

from penstock.clock import SECOND
from penstock.errors import DatabaseProblem, DatabaseUnavailable, WorkerExists
from penstock.runtime.appetite import Appetite
from penstock.runtime.backoff import Backoff
from penstock.runtime.doorbell import Doorbell
from penstock.runtime.execution import Run
from penstock.runtime.hands import Hands
from penstock.runtime.heartbeat import Heartbeat
from penstock.runtime.identity import is_gone, this_process
from penstock.runtime.options import Options
from penstock.runtime.process import stopped_by_signals, tuned_interpreter
from penstock.runtime.report import Report
from penstock.runtime.settler import Settler, released
from penstock.runtime.threads import LostThreads, ThreadsLost
from penstock.runtime.upkeep import Upkeep
from penstock.settings import Settings
from penstock.stores.claiming import Turn
from penstock.stores.store import Store

if TYPE_CHECKING:
    from penstock.client.app import Penstock

FIRST_NAP_SECONDS = 0.01
HOARD_SECONDS = 1.0
"""How often a worker looks whether it holds jobs that others could run sooner."""
UNKNOWN_TASK_SECONDS = 30.0
"""How long a job whose task this worker does not have is left to others."""


class Worker:
    """One process that works."""

    def __init__(self, app: Penstock, options: Options, settings: Settings) -> None:
        self.options = options
        self._app = app
        self._store = app.store
        self._identity = this_process(options.name)
        self._report = Report(self._identity.name)
        self._changed = threading.Condition()
        self._held: dict[tuple[str, int], Run] = {}
        """By id and fence: a job that was lost may come back while its first run still goes on."""
        self._stopping = threading.Event()
        self._hurry = threading.Event()
        self._turn = Turn()
        self._appetite = Appetite()
        self._nap = FIRST_NAP_SECONDS
        self._was_rung = False
        """Somebody enqueued since the last claim began."""
        self._in_doubt = False
        """A claim or a release broke off: what this worker holds must be looked up."""
        self.runs = 0
        """Jobs taken so far."""
        self._lost = LostThreads(options.concurrency)
        self.worn_out: ThreadsLost | None = None
        """Why it ended by itself, where it lost too many of its threads."""
        self._beat_store = Store.open(app.database_url, clock=self._store.database.clock, pool_size=1)
        self._hands = Hands(app, options.concurrency, self._ended)
        self._doorbell = Doorbell(self._store.database, self._report, self._rung)
        self._settler = Settler(self._store, self._identity.name, self._report, self._let_go)
        self._heartbeat = Heartbeat(self._beat_store, self._identity.id, self._report, self._all_held, self._give_up)
        self._upkeep = Upkeep(
            self._store,
            self._identity,
            self._report,
            settings,
            opens_slots=options.schedules,
            may_reap=self._heartbeat.is_steady,
        )

    def run(self) -> int:
        """Work until told to stop, or until there is no reason to go on; returns the jobs it took."""
        with closing(self._beat_store), tuned_interpreter():
            self._begin()
            try:
                self._claim_until_stopped()
                self._wait_for_runs()
            finally:
                self._end()
        return self.runs

    def stop(self) -> None:
        """Claim nothing more, finish within the grace, then give back. A second call hurries."""
        if self._stopping.is_set():
            self._hurry.set()
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()

    def _begin(self) -> None:
        self._store.workers.register(self._identity, list(self.options.queues), sorted(self._app.tasks))
        self._require_alone()
        self._report.started(self.options.queues, self.options.concurrency)
        for step in self._first_steps():
            self._insist("start", step)
        for part in (self._hands, self._settler, self._heartbeat, self._upkeep, self._doorbell):
            part.start()

    def _first_steps(self) -> Iterator[Callable[[], object]]:
        """What is done before the first claim. Each may be done again."""
        yield self._upkeep.recover
        yield self._app.declare_sources
        if self.options.schedules:
            yield self._app.declare_schedules
            yield self._upkeep.open_slots
        if not self.options.limit:  # one that takes so many jobs and no more takes those that wait
            yield lambda: self._app.enqueue_at_start(self.options.queues)

    def _require_alone(self) -> None:
        if not self.options.exclusive:
            return
        gone = set(self._store.workers.gone_from(self._identity, is_gone))
        # Asked after we have said that we are here: of two that start at once, the one with the greater id goes.
        first = [one for one in self._store.workers.list() if one.id < self._identity.id and one.id not in gone]
        if first:
            self._store.workers.stopped(self._identity, 0)
            message = f"Worker {first[0].name} is alive (host {first[0].host}, process {first[0].pid})."
            raise WorkerExists(message, hint="Stop it first, or start this one without --exclusive.")

    def _claim_until_stopped(self) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            room = self._wait_for_room()
            if self._stopping.is_set() or room == 0:
                break
            try:
                self._give_back_unknown()
                if room < 0:
                    self._give_back(-room)
                    continue
                claimed = self._claim(room)
                backoff = Backoff()
                if claimed:
                    self._nap = FIRST_NAP_SECONDS
                elif self._is_over():
                    break
                if claimed < room:  # all that was due is taken; what was begins sooner if nobody asks again at once
                    self._sleep()
            except DatabaseProblem as trouble:
                self._in_doubt = True
                wait = backoff.next()
                self._report.troubled("claim", trouble, wait)
                self._stopping.wait(wait)

    def _claim(self, room: int) -> int:
        self._was_rung = False
        leases = self._store.leases.claim(self._identity.id, self.options.queues, room, self._turn)
        known = [lease for lease in leases if lease.task in self._app.tasks]
        strangers = [lease for lease in leases if lease.task not in self._app.tasks]
        runs = [Run.of(lease, self._app.tasks[lease.task], self._store, self._identity.name) for lease in known]
        with self._changed:
            self._held.update({_right(run): run for run in runs})
            self.runs += len(runs)
        self._report.claimed(known)
        self._hands.take(runs)
        self._heartbeat.expect(runs)
        if strangers:
            self._leave_to_others(strangers)
        return len(leases)

    def _give_back_unknown(self) -> None:
        """After a claim or a release that broke off: there may be leases of ours that nobody here knows of."""
        if self._in_doubt:
            with self._changed:
                known = set(self._held)
            given_back = self._store.leases.give_back_unknown(self._identity.id, known)
            self._in_doubt = False
            self._report.given_back(given_back)

    def _leave_to_others(self, strangers: Sequence[Any]) -> None:
        """A job whose task is unknown here stays queued, and says so."""
        from penstock.engine.settlement import PutBack, Settlement  # noqa: PLC0415 - rarely needed

        wait = PutBack("snooze", int(UNKNOWN_TASK_SECONDS * SECOND), refund=1, deferral=1, waiting_on="task:unknown")
        self._store.leases.settle([Settlement(lease, wait) for lease in strangers], self._identity.name)
        for lease in strangers:
            self._report.unknown(lease)

    def _wait_for_room(self) -> int:
        """How many jobs may be claimed now; waits until there are some, 0 where the limit is reached.

        Less than none says how many are held here that wait behind long runs, and that others could run sooner.
        """
        with self._changed:
            while not self._stopping.is_set():
                left = self.options.limit - self.runs if self.options.limit else self._capacity
                if left <= 0:
                    return 0
                room = min(left, self._capacity - len(self._held))
                if room >= min(left, self._step):
                    return min(room, self._store.database.rows_at_once)
                if not self._changed.wait(HOARD_SECONDS) and (hoard := self._hoard()):
                    return -hoard
        return 0

    def _hoard(self) -> int:
        """How many jobs have waited here for a while without one run that ended."""
        return min(self._hands.waiting, max(0, len(self._held) - self._capacity))

    def _give_back(self, count: int) -> None:
        """Give back jobs that have not begun, the last ones first, for others to run."""
        runs = self._hands.drop_waiting(count)
        self.runs -= len(runs)
        try:
            self._store.leases.settle([released(run) for run in runs], self._identity.name)
        finally:
            self._let_go(runs)  # after a lost reply nobody knows whether they are ours still: they are looked up

    @property
    def _capacity(self) -> int:
        return self.options.concurrency - len(self._lost) + self._appetite.ahead

    @property
    def _step(self) -> int:
        """Claims are worth a round trip from here on."""
        return max(1, min(self._appetite.ahead // 2, self._store.database.rows_at_once))

    def _is_over(self) -> bool:
        """Nothing is due, and the options say that this is the end, once nothing runs here either."""
        if self.options.once:
            return True
        if not self.options.until_empty:
            return False
        with self._changed:
            if not self._held:
                return True
            self._changed.wait(0.05)
        return False

    def _sleep(self) -> None:
        """Sleep a little longer each time, never past the next job that is known to become due."""
        wait = min(self._nap, self.options.poll_interval)
        if self._turn.next_due is not None:
            wait = min(wait, max(0.0, (self._turn.next_due - self._store.now()) / SECOND))
        self._nap = min(self._nap * 1.5, max(self.options.poll_interval, FIRST_NAP_SECONDS))
        with self._changed:
            if not self._was_rung:
                self._changed.wait(wait)

    def _rung(self) -> None:
        """Somebody enqueued: look at once."""
        self._nap = FIRST_NAP_SECONDS
        with self._changed:
            self._was_rung = True
            self._changed.notify_all()

    def _ended(self, run: Run) -> None:
        if not self._lost.came_back(run):
            self._settler.add(run)

    def _give_up(self, run: Run) -> None:
        """Settle a run that never returns without it; with half of the slots lost, end, for a new worker to begin."""
        ended = self._lost.give_up(run)
        if ended is not None:
            self._settler.add(ended)
        if self._lost.are_too_many and not self._stopping.is_set():
            self.worn_out = self._lost.wear_out(self._identity.name)
            self.stop()

    def _let_go(self, runs: list[Run]) -> None:
        self._appetite.ended(len(runs))
        with self._changed:
            for run in runs:
                self._held.pop(_right(run), None)
            self._changed.notify_all()

    def _all_held(self) -> list[Run]:
        with self._changed:
            return list(self._held.values())

    def _wait_for_runs(self) -> None:
        """What was claimed is run to its end, however long it takes, unless somebody says stop."""
        with self._changed:
            while self._held and not self._stopping.is_set():
                self._changed.wait(1.0)

    def _end(self) -> None:
        """Finish what runs within the grace, give the rest back at once, and say goodbye."""
        waiting = self._hands.drop_all()
        self._release(waiting)
        until = time.monotonic() + self.options.grace
        with self._changed:
            while self._held and time.monotonic() < until and not self._hurry.is_set():
                self._changed.wait(0.1)
        self._release([run for run in self._all_held() if run not in self._lost])  # those are being settled
        self._say("release", self._give_back_unknown)
        self._settler.stop(timeout=30)
        self._heartbeat.stop()
        self._upkeep.stop()
        self._doorbell.stop()
        self._hands.stop()
        self._say("goodbye", lambda: self._store.workers.stopped(self._identity, self._report.refused))
        self._report.stopped(self.runs)

    def _insist(self, what: str, act: Callable[[], object]) -> None:
        """Do a thing, again and again while the database is away, unless somebody says stop."""
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                act()
            except DatabaseUnavailable as trouble:
                wait = backoff.next()
                self._report.troubled(what, trouble, wait)
                self._stopping.wait(wait)
            else:
                return

    def _say(self, what: str, act: Callable[[], object]) -> None:
        """Do a last thing; without a database it is left undone, and the worker ends all the same."""
        try:
            act()
        except DatabaseProblem as trouble:
            self._report.troubled(what, trouble, 0.0)

    def _release(self, runs: list[Run]) -> None:
        """Give runs back without burning their attempts; what they still do is refused by the fence."""
        if not runs:
            return
        given_back: frozenset[str] = frozenset()
        try:
            given_back = self._store.leases.settle([released(run) for run in runs], self._identity.name)
        except DatabaseProblem as trouble:
            self._in_doubt = True  # asked again before the next claim; a worker that ends leaves them to run out
            self._report.troubled("release", trouble, 0.0)
        for run in runs:
            run.context.signals.lost = run.lease.id in given_back
            run.end()
        self._let_go(runs)


def _right(run: Run) -> tuple[str, int]:
    return run.lease.id, run.lease.fence


def run_worker(app: Penstock, *, settings: Settings | None = None, signals: bool = False, **said: Any) -> int:
    """Run a worker in this process; returns the jobs it took. With `signals`, SIGTERM and SIGINT drain it.

    Raises `ThreadsLost` where tasks that never return took half of its threads: it has drained, and must be replaced.
    """
    known = settings or Settings.load()
    defaults = {
        "queues": tuple(name.strip() for name in str(known["queues"]).split(",") if name.strip()),
        "concurrency": known["concurrency"],
        "poll_interval": known["poll_interval_seconds"],
        "grace": known["grace_seconds"],
        "name": known["worker_name"],
    }
    worker = Worker(app, Options(**{**defaults, **said}), known)
    with stopped_by_signals(worker.stop) if signals else nullcontext():
        runs = worker.run()
    if worker.worn_out is not None:
        raise worker.worn_out
    return runs

"""The worker: claim, hand over, settle, again. Its loops stand on threads and connections of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from haulwright.clock import SECOND
from haulwright.errors import DatabaseLost, HaulwrightError
from haulwright.runtime.commit_writer import CommitWriter
from haulwright.runtime.execution import Run
from haulwright.runtime.executor import Executor
from haulwright.runtime.heartbeat import Heartbeat
from haulwright.runtime.identity import this_process
from haulwright.runtime.idle import IdleWait
from haulwright.runtime.listener import ListenerThread
from haulwright.runtime.loop import Loop, WorkerBroken
from haulwright.runtime.maintenance import Maintenance
from haulwright.runtime.observers import Observers
from haulwright.runtime.options import WorkerOptions
from haulwright.runtime.orphans import Orphans
from haulwright.runtime.prefetch import Prefetch
from haulwright.runtime.process import tuned_interpreter
from haulwright.runtime.quota import DueJobs, Quota, SingleJob
from haulwright.runtime.schema_watch import SchemaWatch
from haulwright.runtime.settler import SETTLE_SECONDS, Settler, leave_to_others, release_of
from haulwright.runtime.startup import require_exclusive, require_importable, retry_while_away
from haulwright.runtime.threads import LostThreads
from haulwright.runtime.watchdog import Watchdog
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.leases import CLAIM_BYTES, bytes_of
from haulwright.stores.store import Store

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.engine.job import Lease, LeaseKey
    from haulwright.runtime.observed import LoopStuck

SURPLUS_CHECK_SECONDS = 1.0
"""How often a worker looks whether it holds jobs that others could run sooner."""
BEGIN_SECONDS = 0.0003
"""What was claimed begins first where one may write: its commit rings, and another claim would hold up these runs."""
Part = CommitWriter | Executor | Settler | Heartbeat | Watchdog | Maintenance | ListenerThread


class Worker:
    """One process that works."""

    def __init__(self, app: Haulwright, options: WorkerOptions, settings: Settings) -> None:
        self.options, self._app, self._store = options, app, app.store
        self._identity = this_process(options.name)
        self._observers = Observers.logged(self._identity.name, app.observers)
        self._changed = threading.Condition()
        self._held: dict[LeaseKey, Run] = {}
        """A job that was lost may come back while its first run still goes on."""
        self._held_bytes = 0
        """How large the large arguments of those are together."""
        self._moving: Sequence[Run] = ()
        """Runs that are on their way to the executor, or back to the database."""
        self._stopping = threading.Event()
        self._hurrying = threading.Event()
        self._cursor, self._prefetch = ClaimCursor(), Prefetch()
        self._idle = IdleWait(options.poll_interval)
        self._was_notified = False
        """Somebody enqueued since the last claim began."""
        self._in_doubt = False
        """A claim or a release broke off: what this worker holds must be looked up."""
        self.runs = 0  # jobs taken so far
        self._quota = Quota(options)
        self._single = SingleJob(app, self._identity.id, options) if options.once else None
        self._due_jobs = self._single or DueJobs(app, self._identity.id, options)
        self._lost_threads = LostThreads(options.concurrency, self._observers)
        self.exhausted: HaulwrightError | None = None
        """Why it ended by itself: too many threads lost, a loop stuck, a newer schema, or its one job waits."""
        self._schema = SchemaWatch(self._store.database, (migrations.ENGINE, *app.tables))
        self._observers.tally.on_stuck = self._on_stuck
        self._observers.tally.on_lost_database = partial(self.stop, at_once=True)
        self._claiming = Loop("claim", self._claim_next, self._observers)
        self._heartbeat_store = Store.open(app.database_url, clock=self._store.database.clock, pool_size=1)
        self._commits = CommitWriter(self._store, self._observers)
        self._run_of = partial(Run.of, store=self._store, worker=self._identity.name, commit_queue=self._commits.queue)
        self._executor = Executor(app, options.concurrency, self._observers, self._on_ended)
        self._listener = ListenerThread(self._store.database, self._observers, self._on_notify)
        self._settler = Settler(self._store, self._identity.name, self._observers, self._forget)
        self._heartbeat = Heartbeat(
            self._heartbeat_store, self._identity.id, self._observers, self._held_runs, abandon=self._abandon,
            on_put_back=self._on_put_back,
        )  # fmt: skip
        orphans = Orphans(self._held_runs, self._runs_in_hand, self._executor.adopt)
        self._watchdog = Watchdog(self._observers, self._held_runs, orphans.check)
        self._maintenance = Maintenance(
            self._store, self._identity, self._observers, settings, opens_slots=options.schedules
        )

    @property
    def _parts(self) -> tuple[Part, ...]:
        """All that works beside the claims, in the order in which it starts."""
        beside = (self._heartbeat, self._watchdog, self._maintenance, self._listener)
        return (self._commits, self._executor, self._settler, *beside)

    def run(self) -> int:
        """Work until told to stop, or until there is no reason to go on; returns the jobs it took."""
        with closing(self._heartbeat_store), tuned_interpreter():
            self._begin()
            try:
                for part in self._parts:
                    part.start()
                self._claiming.run()
                self._wait_for_runs()
            finally:
                self._end()
        return self.runs

    @property
    def lost_database(self) -> DatabaseLost | None:
        """Why it ended by itself, where its database is not there any more."""
        return self._observers.tally.lost_database

    def count_held(self) -> int:
        """How many jobs it holds now."""
        return len(self._held)

    def stop(self, *, at_once: bool = False) -> None:
        """Claim nothing more, finish within the grace, then give back. A second call hurries."""
        if at_once or self._stopping.is_set():
            self._hurrying.set()
        self._stopping.set()
        self._claiming.end()
        with self._changed:
            self._changed.notify_all()

    def _begin(self) -> None:
        require_importable(self._app, self.options.queues)
        self._register(self._store)
        if self.options.exclusive:
            require_exclusive(self._store, self._identity)
        self._observers.worker_started(self._app, self.options)
        for step in self._first_steps():
            retry_while_away(step, self._observers, self._stopping)

    def _register(self, store: Store) -> None:
        store.workers.register(self._identity, list(self.options.queues), sorted(self._app.tasks))

    def _on_put_back(self, beats: int, remembered: int) -> None:
        """The database is older than we remember it: say so loudly, and take our place in it again."""
        self._observers.database_put_back(beats, remembered)
        if beats == 0:
            self._register(self._heartbeat_store)
        self._heartbeat_store.workers.put_back(self._identity, beats, remembered)
        self._in_doubt = True  # it may have leases of ours whose runs have ended since

    def _first_steps(self) -> Iterator[Callable[[], object]]:
        """What is done before the first claim. Each may be done again."""
        yield self._maintenance.recover
        if self.options.ends_by_itself:
            yield lambda: self._maintenance.take_back_lost(self._stopping)
        yield self._app.declare_sources
        if self.options.schedules:
            yield self._app.declare_schedules
            yield self._maintenance.open_slots
        if not self.options.limit:  # one that takes so many jobs and no more takes those that wait
            yield lambda: self._app.enqueue_at_start(self.options.queues)

    def _claim_next(self) -> None:
        """Wait until there is room, and claim; end where somebody says stop, or where there is nothing more to do."""
        self._moving = ()
        self._stopping.wait(self._executor.pause_seconds)
        room = self._wait_for_room()
        if self._stopping.is_set() or room == 0:
            self._claiming.end()
            return
        try:
            self._release_unknown_leases()
            if room < 0:
                self._release_prefetched(-room)
                return
            if self._is_outdated():
                self._claiming.end()
                return
            was_idle = not self._held
            claimed = self._claim(room)
        except BaseException:
            self._in_doubt = True
            raise
        if claimed:
            self._idle.reset()
        elif self._is_over(was_idle=was_idle):
            self._claiming.end()
            return
        if claimed < room and not self._cursor.is_cut:  # all that was due is taken
            time.sleep(BEGIN_SECONDS if claimed and self._store.database.writers == 1 else 0.0)
            self._sleep()

    def _is_outdated(self) -> bool:
        """Whether the schema became newer than this code: then it claims nothing more, and finishes what it holds."""
        mismatch = self._schema.mismatch()
        if mismatch is None:
            return False
        self.exhausted = mismatch
        self._observers.outdated(mismatch, len(self._held))
        return True

    def _claim(self, room: int) -> int:
        self._was_notified = False
        leases = self._due_jobs.claim(room, self._cursor, CLAIM_BYTES - self._held_bytes)
        tasks = self._app.tasks
        claimed = [self._run_of(lease, tasks[lease.task]) for lease in leases if lease.task in tasks]
        runs = self._without_held(claimed)
        self._moving = runs
        with self._changed:
            self._held.update({run.key: run for run in runs})
            self._held_bytes += bytes_of([run.lease for run in runs])
            self.runs += len(runs)
        self._observers.claimed(leases)
        self._executor.take(runs)
        self._moving = ()
        self._heartbeat.expect(runs)
        if len(claimed) < len(leases):
            self._release_unknown_tasks([lease for lease in leases if lease.task not in tasks])
        return len(leases)

    def _without_held(self, runs: list[Run]) -> list[Run]:
        """Those whose lease no run here has. The others were given out twice by a database that was put back."""
        keys = {run.key for run in runs}
        with self._changed:
            held = {} if keys.isdisjoint(self._held) else {key: self._held[key] for key in keys & self._held.keys()}
        self._release(list(held.values()))  # what they did may be forgotten; the next claim has another fence
        return [run for run in runs if run.key not in held] if held else runs

    def _release_unknown_leases(self) -> None:
        """After a claim or a release that broke off: there may be leases of ours that nobody here knows of."""
        if self._in_doubt:
            with self._changed:
                lease_keys = set(self._held)
            released = self._store.recovery.give_back_unknown(self._identity.id, lease_keys)
            self._in_doubt = False
            self._observers.released_unknown(released)

    def _release_unknown_tasks(self, leases: Sequence[Lease]) -> None:
        """A job whose task is unknown here stays queued, and says so."""
        self._store.settlements.settle([leave_to_others(lease) for lease in leases], self._identity.name)
        self._observers.released(leases, "unknown_task")

    def _wait_for_room(self) -> int:
        """How many jobs may be claimed now; waits until there are some, 0 where the limit is reached.

        Less than none says how many are held here that wait behind long runs, and that others could run sooner.
        """
        with self._changed:
            while not self._stopping.is_set():
                left = self._quota.left(self._capacity)
                if left <= 0:
                    return 0
                room = left - len(self._held)
                if room >= min(left, self._least_batch) and self._held_bytes < CLAIM_BYTES:
                    return min(room, self._store.database.batch_size)
                if not self._changed.wait(SURPLUS_CHECK_SECONDS) and (surplus := self._surplus()):
                    return -surplus
        return 0

    def _surplus(self) -> int:
        """How many jobs have waited here for a while without one run that ended."""
        return min(self._executor.waiting, max(0, len(self._held) - self._capacity))

    def _release_prefetched(self, count: int) -> None:
        """Give back jobs that have not begun, the last ones first, for others to run."""
        self._moving = runs = self._executor.drop_waiting(count)
        self.runs -= len(runs)
        try:
            released = self._store.settlements.settle([release_of(run) for run in runs], self._identity.name)
        finally:
            self._forget(runs)  # after a lost reply nobody knows whether they are ours still: they are looked up
        self._observers.released([run.lease for run in runs if run.lease.id in released], "prefetched")

    @property
    def _capacity(self) -> int:
        return self._executor.slots - len(self._lost_threads) + self._prefetch.ahead

    @property
    def _least_batch(self) -> int:
        """Claims are worth a round trip from here on."""
        return max(1, min(self._prefetch.ahead // 2, self._store.database.batch_size))

    def _is_over(self, *, was_idle: bool) -> bool:
        """Whether the options end here: nothing is due, and nothing was held that may have been put back meanwhile."""
        if self._single is not None:
            is_over = self._single.is_over(self._held_runs())
            self.exhausted = self.exhausted or (self._single.unfinished if is_over else None)
            return is_over
        if not self.options.until_empty:
            return False
        with self._changed:
            if self._held:
                self._changed.wait(0.05)
        return was_idle

    def _sleep(self) -> None:
        next_due = self._cursor.next_due
        wait = self._idle.next(None if next_due is None else (next_due - self._store.now()) / SECOND)
        with self._changed:
            if not self._was_notified:
                self._changed.wait(wait)

    def _on_notify(self) -> None:
        """Somebody enqueued: look at once."""
        self._idle.reset()
        with self._changed:
            self._was_notified = True
            self._changed.notify_all()

    def _on_ended(self, run: Run) -> None:
        if isinstance(run.error, DatabaseLost):
            self._observers.database_lost(run.error)
        if not self._lost_threads.take_back(run):
            self._settler.add(run)

    def _abandon(self, run: Run) -> None:
        """Settle a run that never returns without it; with half of the slots lost, end, for a new worker to begin."""
        ended = self._lost_threads.give_up(run)
        if ended is not None:
            self._settler.add(ended)
        if self._lost_threads.are_too_many and not self._stopping.is_set():
            self.exhausted = self._lost_threads.exhausted()
            self.stop()

    def _on_stuck(self, event: LoopStuck) -> None:
        """One of the loops does nothing but fail: give back what is held, and end, for a new worker to begin."""
        if not self._stopping.is_set():
            self.exhausted = WorkerBroken(event)
            self.stop()

    def _forget(self, runs: list[Run]) -> None:
        self._prefetch.ended(len(runs))
        self._quota.note(runs)
        with self._changed:
            for run in runs:
                if self._held.pop(run.key, None) is not None and run.lease.payload_bytes:
                    self._held_bytes -= run.lease.payload_bytes
            self._changed.notify_all()

    def _held_runs(self) -> list[Run]:
        with self._changed:
            return list(self._held.values())

    def _runs_in_hand(self) -> list[Run]:
        """What some part of this worker will bring to its end, in the order in which a run goes through them."""
        self._executor.nudge()
        return [*self._moving, *self._executor.in_hand(), *self._settler.in_hand()]

    def _wait_for_runs(self) -> None:
        """What was claimed is run to its end, however long it takes, unless somebody says stop."""
        with self._changed:
            while self._held and not self._stopping.is_set():
                self._changed.wait(1.0)

    def _end(self) -> None:
        """Finish what runs within the grace, give the rest back at once, and say goodbye."""
        self._release(self._executor.drop_all())
        until = time.monotonic() + self.options.grace
        with self._changed:
            while self._held and time.monotonic() < until and not self._hurrying.is_set():
                self._changed.wait(0.1)
        self._release([run for run in self._held_runs() if not run.is_over and run not in self._lost_threads])
        self._try_once("release", self._release_unknown_leases)
        self._settler.stop(SETTLE_SECONDS)  # what is over is settled, not given back
        self._release([run for run in self._held_runs() if run not in self._lost_threads])
        for part in reversed(self._parts):
            self._try_once("stop", part.stop)
        self._try_once("goodbye", lambda: self._store.workers.stopped(self._identity, self._observers.tally.refused))
        self._observers.worker_stopped(self.runs)

    def _try_once(self, where: str, act: Callable[[], object]) -> None:
        """Do a last thing; where it cannot be done it is left undone, and the worker ends all the same."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 - the next last thing may be possible
            self._observers.failed(where, error, 0.0)

    def _release(self, runs: list[Run]) -> None:
        """Give runs back without burning their attempts; what they still do is refused by the fence."""
        if not runs:
            return
        released: frozenset[str] = frozenset()
        self._moving = runs
        try:
            released = self._store.settlements.settle([release_of(run) for run in runs], self._identity.name)
        except Exception as error:  # noqa: BLE001 - as above
            self._in_doubt = True  # asked again before the next claim; a worker that ends leaves them to run out
            self._observers.failed("release", error, 0.0)
        self._observers.released([run.lease for run in runs if run.lease.id in released], "worker_stopping")
        for run in runs:
            run.context.signals.lost = run.lease.id in released or self.lost_database is not None
            run.end()
        self._forget(runs)

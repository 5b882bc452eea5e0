"""The one follower of a process: it reads each new event once, and hands it to the clients that it concerns.

It reads while somebody listens, and not at all when nobody does. What it read lately it remembers, so that a client
that was cut for a moment goes on without asking the database.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from haulwright.api.streams.frames import event_frames
from haulwright.api.streams.ring import EventRing
from haulwright.api.streams.subscription import MOST_WAITING, Chunk, Subscription, Topic
from haulwright.errors import InvalidValue
from haulwright.operations.principal import Principal
from haulwright.redaction import redact
from haulwright.stores.paging import PAGE_LIMIT

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.events import Event
    from haulwright.operations import Operations
    from haulwright.operations.events import EventFollower

K = TypeVar("K")

log = logging.getLogger("haulwright.api")

LOOK_EVERY_SECONDS: Final = 0.5
TROUBLED_SECONDS: Final = 2.0
"""Between two looks while the database cannot be used."""
IDLE_SECONDS: Final = 10.0
"""How long it goes on for nobody: who was cut comes again."""
JOBS_AT_ONCE: Final = 500
"""Jobs of which one statement asks whether they have ended."""
END_PATIENCE_SECONDS: Final = 5.0


class EventHub:
    """Follows all events on behalf of all clients of this process."""

    def __init__(self, app: Haulwright) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._ring: EventRing | None = None
        self._of_tenant: dict[str | None, set[Subscription]] = defaultdict(set)
        self._of_job: dict[str, set[Subscription]] = defaultdict(set)
        self._members: set[Subscription] = set()
        self._thread: threading.Thread | None = None
        self._due = threading.Event()
        self._is_ended = False

    @property
    def is_ended(self) -> bool:
        """Whether the server stops."""
        return self._is_ended

    def add(self, client: Subscription) -> None:
        """Begin to follow for a client."""
        with self._lock:
            client.loop = asyncio.get_running_loop()
            self._members.add(client)
            client.is_over = self._is_ended
            if self._thread is None and not self._is_ended:
                self._thread = threading.Thread(target=self._run, name="event-hub", daemon=True)
                self._thread.start()

    def remove(self, client: Subscription) -> None:
        """Forget a client."""
        with self._lock:
            self._members.discard(client)
            self._let_go(client)

    def recent(self, client: Subscription, limit: int) -> list[Event] | None:
        """What a client has to be sent, from what is remembered; when that is all, it is given what comes from now on.

        None where its place lies before what is remembered: it reads the database until it has caught up.
        """
        with self._lock:
            if self._ring is None or client.after < self._ring.start:
                return None
            page = self._ring.read(client.topic, client.after, limit)
            if len(page) < limit:
                self._go_live(client)
            return page

    def take(self, client: Subscription) -> bytes | None:
        """The next that waits for a client; it counts as sent. One at a time, so that who reads slowly holds little."""
        with self._lock:
            if not client.waiting:
                return None
            chunk = client.waiting.popleft()
            client.after = chunk.after
            return chunk.frames

    def shown(self, client: Subscription) -> int | None:
        """The place up to which a client has got everything, if nothing waits for it."""
        with self._lock:
            if self._ring is None or not client.is_live or client.waiting:
                return None
            return max(self._ring.end, client.after)

    def end(self) -> None:
        """End all streams now: the server stops."""
        with self._lock:
            self._is_ended = True
            members = list(self._members)
            for client in members:
                client.is_over = True
        self._due.set()
        _wake(members)

    def join(self) -> None:
        """Wait until its thread has ended, which a look at the database may hold up for a moment."""
        thread = self._thread
        if thread is not None:
            thread.join(END_PATIENCE_SECONDS)

    def _run(self) -> None:
        operations = self._app.operations(Principal.system("streams"))
        follower: EventFollower | None = None
        quiet_since = time.monotonic()
        while True:
            pause = LOOK_EVERY_SECONDS
            try:
                follower = follower or self._begin(operations)
                self._follow(follower)
                self._look_at_jobs(operations)
            except InvalidValue:  # the database was set back: no place of it holds any more
                follower = None
                self._give_up()
            except Exception as error:  # noqa: BLE001 - whatever it is, clients keep their place and it is tried again
                log.warning("the events cannot be followed just now: %s", redact(str(error)))
                pause = TROUBLED_SECONDS
            self._due.wait(pause)
            quiet_since = time.monotonic() if self._members else quiet_since
            if self._may_rest(time.monotonic() - quiet_since):
                return

    def _may_rest(self, quiet_seconds: float) -> bool:
        """Whether nobody listens any more; what is remembered goes then."""
        with self._lock:
            if self._is_ended:
                return True
            if self._members or quiet_seconds < IDLE_SECONDS:
                return False
            self._ring = self._thread = None
            return True

    def _begin(self, operations: Operations) -> EventFollower:
        follower = operations.events.follower()
        with self._lock:
            self._ring = EventRing(follower.after)
            members = list(self._members)
        _wake(members)
        return follower

    def _follow(self, follower: EventFollower) -> None:
        """Read what is new, page by page."""
        while not self._is_ended:
            events = follower.read(PAGE_LIMIT)
            self._publish(events, follower.after)
            if len(events) < PAGE_LIMIT:
                return

    def _publish(self, events: Sequence[Event], after: int) -> None:
        woken: set[Subscription] = set()
        with self._lock:
            if self._ring is None:
                return
            self._ring.add(events, after)
            if not events:
                return
            by_tenant: dict[str | None, list[Event]] = defaultdict(list)
            by_job: dict[str | None, list[Event]] = defaultdict(list)
            for event in events:
                by_tenant[event.tenant].append(event)
                by_job[event.job_id].append(event)
            for tenant, group in [*by_tenant.items(), (None, list(events))]:
                woken |= self._deliver(self._of_tenant.get(tenant, ()), group)
            for job_id, group in by_job.items():
                woken |= self._deliver(self._of_job.get(job_id or "", ()), group)
        _wake(woken)

    def _deliver(self, clients: Iterable[Subscription], events: Sequence[Event]) -> set[Subscription]:
        """Give some clients those of the events that they want; frames are made once for all that want the same."""
        chunks: dict[Topic, Chunk | None] = {}
        woken = set()
        for client in list(clients):
            if client.after >= (events[0].seq or 0):  # it came from the database with more than was seen here
                later = [event for event in events if (event.seq or 0) > client.after]
                chunk = _chunk(client.topic, later)
            else:
                if client.topic not in chunks:
                    chunks[client.topic] = _chunk(client.topic, events)
                chunk = chunks[client.topic]
            if chunk is None:
                continue
            woken.add(client)
            client.waiting.append(chunk)
            if len(client.waiting) > MOST_WAITING:
                client.waiting.clear()
                self._let_go(client)
        return woken

    def _look_at_jobs(self, operations: Operations) -> None:
        """Tell clients whose job has ended. Not every job writes an event of that."""
        with self._lock:
            watched = [client for client in self._members if client.topic.job_id and not client.is_job_over]
        ids = sorted({client.topic.job_id or "" for client in watched})
        unfinished: set[str] = set()
        for start in range(0, len(ids), JOBS_AT_ONCE):
            unfinished |= operations.jobs.unfinished(ids[start : start + JOBS_AT_ONCE])
        over = [client for client in watched if client.topic.job_id not in unfinished]
        for client in over:
            client.is_job_over = True
        _wake(over)

    def _give_up(self) -> None:
        """End all streams; who comes again with a place of before is told that it holds no more."""
        with self._lock:
            self._ring = None
            members = list(self._members)
            for client in members:
                client.is_over = True
        _wake(members)

    def _go_live(self, client: Subscription) -> None:
        client.is_live = True
        if client.topic.job_id is None:
            self._of_tenant[client.topic.tenant].add(client)
        else:
            self._of_job[client.topic.job_id].add(client)

    def _let_go(self, client: Subscription) -> None:
        client.is_live = False
        if client.topic.job_id is None:
            _discard(self._of_tenant, client.topic.tenant, client)
        else:
            _discard(self._of_job, client.topic.job_id, client)


def _discard(index: dict[K, set[Subscription]], key: K, client: Subscription) -> None:
    if key in index:
        index[key].discard(client)
        if not index[key]:
            del index[key]


def _chunk(topic: Topic, events: Sequence[Event]) -> Chunk | None:
    matches = topic.matching(events)
    return Chunk(matches[-1].seq or 0, event_frames(matches)) if matches else None


def _wake(clients: Iterable[Subscription]) -> None:
    """Have clients look, each on the loop on which it runs."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Subscription]] = defaultdict(list)
    for client in clients:
        if client.loop is not None:
            by_loop[client.loop].append(client)
    for loop, group in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_wake_all, group)


def _wake_all(clients: Sequence[Subscription]) -> None:
    for client in clients:
        client.wake()

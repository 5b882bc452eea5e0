"""Clients of the streams of the API, and writers of events that commit in another order than they wrote."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx2

from haulwright.engine.ids import new_id
from haulwright.events import Event
from haulwright.stores.store import Store


@dataclass(frozen=True)
class Frame:
    """One event of a stream."""

    name: str
    data: Any
    id: str | None


class StreamClient:
    """One connection; it keeps the last id, as a browser does."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self.last_id: str | None = None
        self.comments: list[str] = []
        self._lines = answer.iter_lines()

    def blocks(self) -> Iterator[dict[str, str]]:
        """The fields of what arrives, up to each empty line."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if line:
                key, _, value = line.partition(": ")
                fields[key] = value
                if key == "":
                    self.comments.append(value)
                continue
            self.last_id = fields.get("id", self.last_id)
            yield fields
            fields = {}

    def opened(self) -> StreamClient:
        """Wait until the stream has said where it begins."""
        assert "retry" in next(self.blocks())
        return self

    def frames(self) -> Iterator[Frame]:
        """The events that arrive, until the stream ends."""
        for fields in self.blocks():
            if "data" in fields:
                yield Frame(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))


@contextmanager
def streaming(client: httpx2.Client, path: str, last_id: str | None = None, **params: str) -> Iterator[StreamClient]:
    """An open stream."""
    headers = {} if last_id is None else {"Last-Event-ID": last_id}
    with client.stream("GET", path, headers=headers, params=params) as answer:
        assert answer.status_code == 200, answer.read()
        yield StreamClient(answer)


class EventWriters:
    """Threads that write events of some jobs at once. Who writes of a job holds it until its commit."""

    def __init__(self, store: Store, *, writers: int, events: int, jobs: int = 16) -> None:
        self._store = store
        self._each = events // writers
        self.jobs = [new_id() for _ in range(jobs)]
        self.counters = Counter(dict.fromkeys(self.jobs, 0))
        self._locks = {job: threading.Lock() for job in self.jobs}
        self.total = self._each * writers
        self._threads = [threading.Thread(target=self._write, args=[number]) for number in range(writers)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int) -> None:
        chance = random.Random(writer)
        for step in range(self._each):
            job = self.jobs[(writer * 7 + step) % len(self.jobs)]
            stays_open = step % 5 == 0

            with self._locks[job]:
                event = Event("work.done", "acme", job, data={"n": self.counters[job]})

                def work(connection: Any, event: Event = event, *, stays_open: bool = stays_open) -> None:
                    self._store.events.record(connection, [event])
                    if stays_open:  # a transaction that others overtake
                        threading.Event().wait(chance.random() / 200)

                self._store.database.transact(work)
                self.counters[job] += 1


def follow_with_cuts(client: httpx2.Client, expected: int, *, cuts: int, seed: int) -> list[dict[str, Any]]:
    """All events from the first one, by a client whose connection is cut at random and that comes again each time."""
    chance = random.Random(seed)
    events: list[dict[str, Any]] = []
    last_id: str | None = "0"
    for cut in range(cuts + 1):
        left = chance.randrange(2 * expected // (cuts + 1)) if cut < cuts else expected
        with streaming(client, "/events/stream", last_id) as stream:
            stream.opened()
            last_id = stream.last_id
            if not left or len(events) >= expected:
                continue
            for frame in stream.frames():
                if frame.data["name"] == "work.done":
                    events.append(frame.data)
                    left -= 1
                last_id = stream.last_id
                if not left or len(events) >= expected:
                    break
    return events


def require_all_once_in_order(events: list[dict[str, Any]], writers: EventWriters) -> None:
    """Each event once, and those of a job in their order."""
    assert len(events) == writers.total
    assert len({event["seq"] for event in events}) == writers.total
    for job, count in writers.counters.items():
        assert [event["data"]["n"] for event in events if event["job_id"] == job] == list(range(count))

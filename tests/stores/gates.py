"""Short words for what the tests of sources do over and over."""

from __future__ import annotations

from typing import Any

from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.job import Lease, LeaseKey
from haulwright.engine.source import source_limits
from haulwright.stores.sources.admission import Admission, Denial, Release, Requester
from haulwright.stores.store import Store

KEY = "shop.example"


def outsider() -> LeaseKey:
    """Somebody outside any job, who holds what it gets for itself."""
    holder = new_id()
    return LeaseKey(holder, 0, holder)


def declare(store: Store, key: str = KEY, **said: Any) -> str:
    """A source that allows this."""
    store.sources.declare(key, source_limits(**said))
    return key


def ask(store: Store, key: str = KEY, *, back: bool = False, patience: float = 0.0) -> Admission | Denial:
    """Ask from outside any job."""
    answer = store.gates.ask(key, Requester(outsider(), back), lease_seconds=60, patience=patience)
    assert answer is not None
    return answer


def ask_many(store: Store, fresh: int, back: int = 0, key: str = KEY) -> list[Admission | Denial]:
    """Ask for many at once, as a claim does."""
    askers = [Requester(LeaseKey(new_id(), 1, new_id()), place < back) for place in range(fresh + back)]
    answers = store.database.transact(lambda connection: store.gates.ask_on(connection, key, askers))
    assert answers is not None
    return answers


def claimed(store: Store, lease: Lease) -> Admission | None:
    """What a job got with its claim, as the first request of its run finds it in this process."""
    admission = store.gates.take_claimed(lease)
    if admission is None and store.gates.is_claimed_elsewhere(lease):
        return store.gates.adopt(lease)
    return admission


def passes(store: Store, key: str = KEY) -> bool:
    """Whether one request may be made now."""
    return isinstance(ask(store, key), Admission)


def leave(store: Store, passed: Admission | Denial, outcome: str = "ok", park_seconds: float = 0.0) -> None:
    """End a request that was let through."""
    assert isinstance(passed, Admission)
    store.gates.leave(passed, Release(outcome, park_seconds))


def fail(store: Store, times: int, key: str = KEY) -> None:
    """Requests that the server fails, one after the other."""
    for _ in range(times):
        leave(store, ask(store, key), "failed")


def wait_of(answer: Admission | Denial) -> float:
    """After how many seconds a refused one may come back."""
    assert isinstance(answer, Denial)
    return answer.wait_us / SECOND

"""Short words for what the tests of sources do over and over."""

from __future__ import annotations

from typing import Any

from penstock.clock import SECOND
from penstock.engine.ids import new_id
from penstock.engine.source import figures
from penstock.stores.sources import Asker, Left, Passed, Refused
from penstock.stores.store import Store

KEY = "shop.example"


def declare(store: Store, key: str = KEY, **said: Any) -> str:
    """A source that allows this."""
    store.sources.declare(key, figures(**said))
    return key


def ask(store: Store, key: str = KEY, *, back: bool = False, patience: float = 0.0) -> Passed | Refused:
    """Ask from outside any job."""
    answer = store.sources.ask(key, Asker(new_id(), 0, back), lease_seconds=60, patience=patience)
    assert answer is not None
    return answer


def ask_many(store: Store, fresh: int, back: int = 0, key: str = KEY) -> list[Passed | Refused]:
    """Ask for many at once, as a claim does."""
    askers = [Asker(new_id(), 1, place < back) for place in range(fresh + back)]
    answers = store.database.transact(lambda connection: store.sources.ask_on(connection, key, askers))
    assert answers is not None
    return answers


def passes(store: Store, key: str = KEY) -> bool:
    """Whether one request may be made now."""
    return isinstance(ask(store, key), Passed)


def leave(store: Store, passed: Passed | Refused, outcome: str = "ok", park_seconds: float = 0.0) -> None:
    """End a request that was let through."""
    assert isinstance(passed, Passed)
    store.sources.leave(passed, Left(outcome, park_seconds))


def fail(store: Store, times: int, key: str = KEY) -> None:
    """Requests that the server fails, one after the other."""
    for _ in range(times):
        leave(store, ask(store, key), "failed")


def wait_of(answer: Passed | Refused) -> float:
    """After how many seconds a refused one may come back."""
    assert isinstance(answer, Refused)
    return answer.wait_us / SECOND

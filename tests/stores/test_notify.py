"""Enqueues notify workers, but not one by one: on PostgreSQL every notice takes a lock of the whole server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

import psycopg
import pytest

from haulwright.stores.caller_connection import adopt_connection
from haulwright.stores.notify import INTERVAL_SECONDS, NotifyThrottle
from haulwright.stores.store import Store
from tests.stores.scenes import new_job


@pytest.fixture
def postgres_store(made_postgres_url, clock) -> Iterator[Store]:
    with closing(Store.open(made_postgres_url, clock=clock)) as store:
        yield store


@pytest.fixture
def caller(made_postgres_url) -> Iterator[psycopg.Connection]:
    with psycopg.connect(made_postgres_url) as raw:
        yield raw
        raw.rollback()


@pytest.fixture
def listening(made_postgres_url) -> Iterator[psycopg.Connection]:
    with psycopg.connect(made_postgres_url, autocommit=True) as raw:
        raw.execute("listen haulwright")
        yield raw


@pytest.fixture
def moments(monkeypatch) -> SimpleNamespace:
    """The monotonic clock of the process, as far as notices go by it: `now` is set by the test."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("haulwright.stores.notify.time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def enqueue_as(caller: psycopg.Connection, store: Store) -> None:
    """One enqueue in a transaction of the caller's, which is left open."""
    Store(adopt_connection(caller, store.database)).jobs.enqueue([new_job()])


def notices_of(sender: psycopg.Connection, listening: psycopg.Connection) -> int:
    """How many notices came from one connection: other tests may use the same server."""
    return sum(notice.pid == sender.info.backend_pid for notice in listening.notifies(timeout=0.2))


@pytest.mark.postgres
def test_enqueues_in_callers_transactions_notify_no_more_often_than_our_own(postgres_store, caller, listening, moments):
    """One notice in each interval, however many transactions commit in it."""
    for moments.now in (0.0, INTERVAL_SECONDS / 2, INTERVAL_SECONDS, INTERVAL_SECONDS * 1.5):
        for _ in range(10):
            enqueue_as(caller, postgres_store)
            caller.commit()

    assert notices_of(caller, listening) == 2


@pytest.mark.postgres
@pytest.mark.usefixtures("moments")
def test_a_notice_that_waits_for_a_callers_commit_silences_nobody_who_commits_at_once(
    postgres_store, caller, listening
):
    enqueue_as(caller, postgres_store)

    postgres_store.jobs.enqueue([new_job()])

    assert any(notice.pid != caller.info.backend_pid for notice in listening.notifies(timeout=0.5))


@pytest.mark.usefixtures("moments")
def test_a_notice_of_our_own_speaks_for_the_callers_that_follow():
    ours = NotifyThrottle()
    callers = NotifyThrottle(ahead=ours)

    assert ours.may_notify(0, None)
    assert not callers.may_notify(0, None)


@pytest.mark.usefixtures("moments")
def test_an_enqueue_for_later_notifies_nobody():
    throttle = NotifyThrottle()

    assert not throttle.may_notify(1, None)
    assert not throttle.may_notify(0, 1)
    assert throttle.may_notify(0, None)

"""Gates that an event loop passes without a thread: only where nothing has to be waited for and nothing has to last."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.stores.sources.admission import Admission, Denial, Leaving, Release, Requester
from tests.stores.gates import KEY, declare, outsider
from tests.stores.scenes import lose

OK = Release("ok", received=10, seconds=0.5)


sqlite_alone = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""A trip to a server is more than a moment: nobody passes PostgreSQL like this."""


@pytest.fixture
def at_once(store):
    """Ask without waiting."""

    def ask(**how):
        (answer,) = store.gates.ask_together(KEY, [Requester(outsider())], lease_seconds=60.0, waiting=False, **how)
        return answer

    return ask


@sqlite_alone
def test_a_fast_source_is_passed_and_left_at_once(store, at_once):
    declare(store, rate="600/min", burst=5, concurrency=2)

    passed = at_once()

    assert isinstance(passed, Admission)
    assert store.sources.standing(KEY).held == 1
    assert store.gates.leave_quietly([Leaving(passed, OK)], waiting=False)
    assert store.sources.standing(KEY).held == 0
    traffic = store.sources.traffic(5)[KEY]
    assert (traffic.requests, traffic.received_bytes, traffic.busy_seconds) == (1, 10, 0.5)


@sqlite_alone
def test_what_is_granted_at_once_is_on_the_same_meter(store, at_once):
    declare(store, rate="60/min")

    assert [at_once().delay_us / SECOND for _ in range(3)] == [0, 1, 2]
    assert at_once().gate == "rate"
    refused = store.gates.ask(KEY, Requester(outsider()), lease_seconds=60.0)
    assert isinstance(refused, Denial)


@sqlite_alone
@pytest.mark.parametrize("figures", [{"rate": "6/min"}, {"rate": "600/min", "budget": 100}], ids=["slow", "budget"])
def test_what_a_power_cut_must_not_forget_is_never_granted_at_once(store, at_once, figures):
    declare(store, **figures)

    assert at_once() is None
    assert store.sources.standing(KEY).tickets == 0


@sqlite_alone
def test_nothing_is_waited_for_while_somebody_else_writes(store, at_once):
    declare(store, rate="600/min", burst=5)
    passed = at_once()

    asked, left = store.database.transact(
        lambda _: (at_once(), store.gates.leave_quietly([Leaving(passed, OK)], waiting=False))
    )

    assert (asked, left) == (None, None)
    assert store.sources.standing(KEY).tickets == 1


@sqlite_alone
def test_a_permit_that_nobody_has_is_asked_for_with_patience(store, at_once):
    """Those whose holders are gone are looked for, which takes a transaction."""
    declare(store, rate="600/min", burst=5, concurrency=1)
    at_once()

    assert at_once() is None


@sqlite_alone
def test_a_run_that_lost_its_lease_passes_nothing_at_once(store, clock, lease):
    declare(store, rate="600/min", burst=5)
    lose(store, clock)

    assert store.gates.ask_together(KEY, [Requester(lease.key)], waiting=False) == [None]
    assert store.sources.standing(KEY).tickets == 0


@pytest.mark.parametrize(
    "left", [Release("failed"), Release("auth"), Release("ok", park_seconds=30)], ids=lambda left: left.outcome
)
def test_an_answer_that_says_something_of_the_server_is_never_left_quietly(store, left):
    declare(store, rate="600/min", burst=5)
    passed = store.gates.ask(KEY, Requester(outsider()), lease_seconds=60.0)

    assert not store.gates.leave_quietly([Leaving(passed, left)])
    store.gates.leave(passed, left)
    row = store.sources.get(KEY)
    assert row.last_failure_at is not None or row.closing.gate == "parked"


def test_the_probe_of_a_breaker_is_never_left_quietly(store, clock):
    declare(store, rate="600/min", burst=5, breaker="1 failure / 5 min")
    store.gates.leave(store.gates.ask(KEY, Requester(outsider()), lease_seconds=60.0), Release("failed"))
    clock.advance(301)
    probe = store.gates.ask(KEY, Requester(outsider()), lease_seconds=60.0)

    assert not store.gates.leave_quietly([Leaving(probe, OK)])
    store.gates.leave(probe, OK)
    assert store.sources.standing(KEY).breaker == "closed"


@sqlite_alone
def test_other_writes_still_wait_for_the_disk(store, at_once):
    declare(store, rate="600/min", burst=5)
    at_once()

    ((synchronous,),) = store.database.read(lambda connection: connection.execute("pragma synchronous"))

    assert synchronous == 2  # FULL


@pytest.mark.parametrize("database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_a_server_is_never_asked_at_once(store, at_once):
    declare(store, rate="600/min", burst=5)

    assert at_once() is None


def test_those_who_leave_together_are_counted_each_and_give_back_what_they_had(store):
    declare(store, rate="600/min", burst=5, concurrency=4)
    passed = [store.gates.ask(KEY, Requester(outsider()), lease_seconds=60.0) for _ in range(3)]
    releases = [OK, Release("ignored", counts=False), Release("answered", sent=3, received=7, seconds=0.25)]

    leavings = [Leaving(admission, release) for admission, release in zip(passed[:2], releases[:2], strict=True)]
    assert store.gates.leave_quietly(leavings)
    assert store.sources.standing(KEY).held == 1
    assert store.gates.leave_quietly([Leaving(passed[2], releases[2])])

    assert store.sources.standing(KEY).held == 0
    traffic = store.sources.traffic(5)[KEY]
    assert (traffic.requests, traffic.sent_bytes, traffic.received_bytes) == (2, 3, 17)
    assert traffic.busy_seconds == 0.75


def test_one_that_says_something_of_the_server_has_nobody_leave_quietly(store):
    declare(store, rate="600/min", burst=5, concurrency=4)
    passed = [store.gates.ask(KEY, Requester(outsider()), lease_seconds=60.0) for _ in range(2)]

    assert not store.gates.leave_quietly([Leaving(passed[0], OK), Leaving(passed[1], Release("failed"))])
    assert store.sources.standing(KEY).held == 2

"""Gates that several ask and leave at the same moment: one statement for all, and for each what it would get alone."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright.clock import SECOND
from haulwright.engine.outcome import Done
from haulwright.engine.source import source_limits
from haulwright.errors import LeaseLost
from haulwright.stores.connect import open_database
from haulwright.stores.sources.admission import Admission, Denial, Leaving, Release, Requester
from haulwright.stores.store import Store
from tests.stores.gates import KEY, ask, declare, fail, leave, outsider
from tests.stores.scenes import claim, count, lose, rows, settle

OK = Release("ok", received=10, seconds=0.5)


@pytest.fixture
def statements(store, monkeypatch):
    """What is run of the book of sources from here on, by name."""
    names = {id(entry): name for name, entry in store.gates._book.items()}
    run_by_name: list[str] = []
    connection = store.database.read(type)
    run_batch = connection.run_batch

    def noted(self, entry, columns, common):
        if id(entry) in names:
            run_by_name.append(names[id(entry)])
        return run_batch(self, entry, columns, common)

    monkeypatch.setattr(connection, "run_batch", noted)
    return run_by_name


@pytest.fixture
def real_time(database_url, monkeypatch):
    """The same database by its own clock, with patience for a busy machine."""
    monkeypatch.setattr("haulwright.stores.sources.gate.UNASKED_SECONDS", 60.0)
    with closing(Store(open_database(database_url))) as real_time:
        yield real_time


def together(store, askers, **how):
    """Ask from outside any job: for each letter once, those with a b at the turn that they were given."""
    requesters = [Requester(outsider(), letter == "b") for letter in askers]
    return store.gates.ask_together(KEY, requesters, lease_seconds=60.0, **{"patience": 0.0, **how})


def test_those_who_ask_together_get_what_they_would_get_one_by_one(store, statements):
    declare(store, rate="60/min", burst=3)

    answers = together(store, "nnnnn")

    assert [type(answer) for answer in answers] == [Admission] * 3 + [Denial] * 2
    assert [answer.wait_us for answer in answers[3:]] == [SECOND, 2 * SECOND]
    assert statements == ["pass"]
    assert store.sources.standing(KEY).tickets == 3


def test_of_those_who_ask_together_they_come_first_who_are_at_their_turn(store):
    declare(store, rate="1/h")

    answers = together(store, "nbn")

    assert [type(answer) for answer in answers] == [Denial, Admission, Denial]


def test_beside_a_run_that_lost_its_lease_everybody_asks_alone(store, worker, make_job):
    declare(store, rate="600/min", burst=5, concurrency=5)
    make_job(), make_job()
    gone, alive = claim(store, worker, 2)
    settle(store, gone, Done())

    answers = store.gates.ask_together(KEY, [Requester(alive.key), Requester(gone.key)])

    assert answers == [None, None]
    assert store.sources.standing(KEY).tickets == 0
    assert isinstance(store.gates.ask(KEY, Requester(alive.key)), Admission)
    with pytest.raises(LeaseLost):
        store.gates.ask(KEY, Requester(gone.key))


def test_those_who_ask_together_share_the_permits_and_those_of_the_gone(store, worker, make_job):
    declare(store, concurrency=2)
    make_job()
    (lease,) = claim(store, worker)
    store.gates.ask(KEY, Requester(lease.key))
    settle(store, lease, Done())  # without a word of its permit

    answers = together(store, "nnn")

    assert [type(answer) for answer in answers] == [Admission, Admission, Denial]
    assert (answers[2].gate, count(store, "haulwright_source_permits")) == ("permits", 2)


def test_of_those_who_ask_together_after_the_cool_down_one_is_the_probe(store, clock):
    declare(store, breaker="1 failure / 5 min")
    fail(store, 1)
    clock.advance(301)

    answers = together(store, "nnn")

    assert [isinstance(answer, Admission) and answer.is_probe for answer in answers] == [True, False, False]
    assert {answer.gate for answer in answers[1:]} == {"breaker"}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_on_an_event_loop_those_who_find_no_permit_ask_alone_and_the_others_keep_theirs(store):
    declare(store, rate="600/min", burst=5, concurrency=1)

    answers = together(store, "nn", waiting=False)

    assert isinstance(answers[0], Admission)
    assert answers[1] is None
    assert store.sources.standing(KEY).held == 1


def test_a_source_that_limits_nothing_is_passed_without_a_write(store, statements):
    declare(store)
    first = ask(store)

    answers = [ask(store), *together(store, "nn")]

    assert all(isinstance(answer, Admission) for answer in [first, *answers])
    assert statements == ["pass", "pass_unlimited", "pass_unlimited"]
    assert store.sources.standing(KEY).tickets == 1


def test_a_claim_passes_a_source_that_limits_nothing_without_a_write(store, worker, make_job, statements):
    declare(store)
    for _ in range(4):
        make_job(source=KEY)

    first, second = claim(store, worker, 2), claim(store, worker, 2)

    assert (len(first), len(second)) == (2, 2)
    assert [name for name in statements if name.startswith("pass")] == ["pass", "pass_unlimited"]
    assert all(store.gates.take_claimed(lease) is not None for lease in [*first, *second])


@pytest.mark.parametrize("closed", ["paused", "parked", "breaker", "rate", "permits", "disabled"])
def test_a_source_that_limited_nothing_is_closed_by_another_process_at_once(store, open_store, closed):
    declare(store, breaker="1 failure / 5 min")
    ask(store)
    other = open_store()
    if closed == "paused":
        other.sources.pause(KEY, actor="ops", reason="enough")
    elif closed == "disabled":
        other.sources.override(KEY, {"enabled": False}, actor="ops")
    elif closed in {"rate", "permits"}:
        figures = {"rate": "1/h"} if closed == "rate" else {"concurrency": 1}
        other.sources.declare(KEY, source_limits(**figures))
        ask(store)
    else:
        leave(other, ask(other), "failed" if closed == "breaker" else "ok", 30 if closed == "parked" else 0)

    answer = ask(store)

    assert isinstance(answer, Denial)
    assert answer.gate == closed


def test_a_run_that_lost_its_lease_does_not_pass_a_source_that_limits_nothing(store, clock, lease):
    declare(store)
    ask(store)
    lose(store, clock)

    with pytest.raises(LeaseLost):
        store.gates.ask(KEY, Requester(lease.key))


def test_what_was_seen_of_a_source_is_forgotten_where_this_process_changes_it(real_time):
    declare(real_time)
    ask(real_time), ask(real_time)
    assert real_time.gates.pass_unlimited(KEY, outsider())

    real_time.sources.pause(KEY, actor="ops", reason="enough")

    assert real_time.gates.pass_unlimited(KEY, outsider()) is None


def test_a_source_that_limits_nothing_is_looked_at_again_after_a_moment(real_time, monkeypatch):
    declare(real_time)
    ask(real_time)
    monkeypatch.setattr("haulwright.stores.sources.gate.UNASKED_SECONDS", 0.0)

    assert real_time.gates.pass_unlimited(KEY, outsider()) is None


def test_by_a_clock_that_is_set_every_source_is_looked_at(store):
    """It stands still while a test does one thing after another: what was seen is never a moment old."""
    declare(store)
    ask(store)

    assert store.gates.pass_unlimited(KEY, outsider()) is None


def test_a_source_with_limits_is_never_passed_unasked(real_time):
    for number, figures in enumerate(({"rate": "100/s"}, {"concurrency": 5}, {"budget": 9}, {"min_interval": "1 s"})):
        key = declare(real_time, f"shop-{number}.example", **figures)
        ask(real_time, key)

        assert real_time.gates.was_open(key, 60.0)
        assert real_time.gates.pass_unlimited(key, outsider()) is None


def test_those_who_leave_while_others_wait_for_their_permits_wake_as_many(store, worker, make_job, clock, statements):
    declare(store, rate="6000/min", burst=100, concurrency=3)
    passed = [ask(store) for _ in range(3)]
    waiting = [make_job(source=KEY) for _ in range(5)]
    assert claim(store, worker, 5) == []
    statements.clear()

    assert store.gates.leave_together([Leaving(admission, OK) for admission in passed[:2]])

    due = [job.id for job in waiting if store.listing.get(job.id, None).run_at <= clock.now()]
    assert due == [job.id for job in waiting[:2]]
    assert (store.sources.standing(KEY).held, count(store, "haulwright_source_permits")) == (1, 1)
    assert store.sources.traffic(5)[KEY].requests == 2
    assert statements == ["leave_quietly", "leave_quietly"]


def test_nobody_is_woken_by_those_who_leave_a_source_that_is_failing(store, worker, make_job):
    declare(store, concurrency=2, breaker="1 failure / 5 min")
    passed, other = ask(store), ask(store)
    make_job(source=KEY)
    assert claim(store, worker) == []
    leave(store, other, "failed")

    assert not store.gates.leave_together([Leaving(passed, OK)])

    ((waiting,),) = rows(store, "select count(*) from haulwright_jobs where waiting_on is not null")
    assert (waiting, store.sources.standing(KEY).held) == (1, 1)


def test_what_says_something_of_the_server_is_never_left_together(store):
    declare(store, concurrency=2)
    passed = [ask(store), ask(store)]

    assert not store.gates.leave_together([Leaving(passed[0], OK), Leaving(passed[1], Release("failed"))])
    assert store.sources.standing(KEY).held == 2

"""The judge of the chaos sees what it is there for, and does not blame anybody for what nobody can avoid."""

from __future__ import annotations

from proof.chaos.blows import Blow, Blows
from proof.chaos.verdict import TERM, _unexplained, acts_of
from proof.support.diary import Entry

KEY = "tenant/job"


def log(*lines: tuple[str, int]) -> list[Entry]:
    return [Entry(event, 1, KEY, fence, {}) for event, fence in lines]


def test_an_act_that_the_next_run_could_see_is_not_done_again():
    acts = acts_of(log(("begins", 1), ("charge", 1), ("look", 2), ("begins", 2), ("charge", 2)))

    assert len(acts.repeated) == 1


def test_an_act_that_was_recorded_is_not_begun_again():
    acts = acts_of(log(("begins", 1), ("charge", 1), ("recorded", 1), ("begins", 2)))

    assert len(acts.repeated) == 1


def test_a_run_that_stood_still_in_the_middle_of_its_act_may_finish_it():
    """Nobody can call back a request that is on its way: it carries the same key."""
    acts = acts_of(log(("begins", 1), ("look", 2), ("begins", 2), ("charge", 2), ("recorded", 2), ("charge", 1)))

    assert (acts.repeated, acts.overlapping) == ([], 1)


def test_a_lease_is_lost_only_with_a_worker_to_whom_something_was_done():
    blows = Blows()
    blows.add(Blow("kill -9 of a worker", 1.0, 1.0, frozenset({10})))

    assert list(_unexplained([("job", 1, 10)], blows)) == []
    assert len(list(_unexplained([("job", 1, 11)], blows))) == 1


def test_a_worker_that_is_told_to_stop_gives_its_leases_back_unless_the_database_is_away():
    blows = Blows()
    blows.add(Blow(TERM, 100.0, 100.0, frozenset({10})))
    assert len(list(_unexplained([("job", 1, 10)], blows))) == 1

    blows.add(Blow("read-only", 98.0, 105.0, frozenset()))
    assert list(_unexplained([("job", 1, 10)], blows)) == []

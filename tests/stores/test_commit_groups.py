"""Commits of several runs in one transaction: all the promises of a commit alone, and no neighbour pays for another."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from haulwright.engine.outcome import Done
from haulwright.engine.payload import EFFECT_INLINE_LIMIT_BYTES
from haulwright.engine.transitions import State
from haulwright.errors import LeaseLost
from haulwright.stores.commit_groups import ALONE_SECONDS, SLOW_SECONDS, CommitRequest, GroupBroken, code_of
from haulwright.stores.group_connection import NotInGroup
from tests.stores.scenes import claim, claim_one, count, fail, give_same_number_to, lose, race, rows, settlement


@pytest.fixture
def leases(store, worker, make_job):
    """Three runs of a worker."""
    for _ in range(3):
        make_job()
    return claim(store, worker, 3)


@pytest.fixture(autouse=True)
def sink(store):
    """A table of the user's own."""
    store.database.transact(lambda connection: connection.execute("create table sink (v text)"))


def save(connection):
    connection.execute("insert into sink (v) values ('x')")
    return "1"


def request(lease, act=save, key=None, *, settles=False):
    ends = (lambda text: settlement(lease, Done(text))) if settles else None
    return CommitRequest(lease, key or f"key of {lease.id}", "save", act, code_of(act), "worker", ends)


@pytest.mark.proves("GU-02")
def test_commits_of_several_runs_are_one_transaction(store, leases):
    requests = [request(lease, settles=place > 0) for place, lease in enumerate(leases)]

    assert store.commits.commit_together(requests) == dict.fromkeys(requests, "1")

    assert count(store, "sink") == 3
    assert [store.listing.get(lease.id).state for lease in leases] == [State.RUNNING, *[State.SUCCEEDED] * 2]
    assert [store.effects.find("default", each.key).result for each in requests] == ["1"] * 3


@pytest.mark.proves("GU-02")
def test_what_a_group_recorded_is_not_done_again(store, clock, worker, leases):
    store.commits.commit_together([request(lease) for lease in leases])
    for lease in leases:
        fail(store, lease)
    clock.advance(3600)

    again = [request(lease) for lease in claim(store, worker, 3)]

    assert store.commits.commit_together(again) == {}
    assert [store.commits.commit(each) for each in again] == ["1"] * 3
    assert count(store, "sink") == 3


@pytest.mark.proves("GU-04", "CLM-12")
def test_a_stale_run_in_a_group_writes_nothing_and_its_neighbours_commits_hold(store, clock, worker, make_job):
    make_job()
    stale = claim_one(store, worker)
    lose(store, clock)
    current = claim_one(store, worker)
    make_job()
    neighbour = request(claim_one(store, worker), settles=True)
    late = request(stale, settles=True)

    assert store.commits.commit_together([late, neighbour]) == {neighbour: "1"}

    assert count(store, "sink") == 1
    assert store.effects.find("default", late.key) is None
    assert store.listing.get(current.id).state is State.RUNNING
    with pytest.raises(LeaseLost):
        store.commits.commit(late)


@pytest.mark.proves("GU-04")
def test_the_same_number_in_the_hands_of_another_is_no_right(store, make_job):
    """A database that was put back gives the same fence out again."""
    make_job()
    other = claim_one(store, "00000000-0000-7000-8000-000000000001")
    give_same_number_to(store, "00000000-0000-7000-8000-000000000002")

    assert store.commits.commit_together([request(other)]) == {}
    assert count(store, "sink") == 0


def test_a_run_whose_job_has_ended_is_left_out(store, leases):
    store.settlements.settle([settlement(leases[0], Done())])
    requests = [request(lease) for lease in leases]

    assert store.commits.commit_together(requests) == dict.fromkeys(requests[1:], "1")


@pytest.mark.proves("GU-02")
def test_a_function_that_raises_takes_the_group_back_and_each_can_go_alone(store, leases):
    def fail_after_writing(connection):
        save(connection)
        raise ValueError("the last line was bad")

    requests = [request(leases[0]), request(leases[1], fail_after_writing), request(leases[2], settles=True)]

    with pytest.raises(GroupBroken):
        store.commits.commit_together(requests)

    assert (count(store, "sink"), count(store, "haulwright_effects"), count(store, "haulwright_history")) == (0, 0, 0)
    assert [store.commits.commit(requests[place]) for place in (0, 2)] == ["1", "1"]
    with pytest.raises(ValueError, match="the last line"):
        store.commits.commit(requests[1])
    assert count(store, "sink") == 2


@pytest.mark.proves("GU-02")
def test_two_jobs_that_meet_at_a_key_commit_once(store, open_store, leases):
    """The second finds the key taken when it writes its record: everything of its group is taken back."""
    shared = [request(lease, key="shared") for lease in leases[:2]]
    neighbour = request(leases[2])

    race(
        partial(store.commits.commit_together, [shared[0]]),
        partial(open_store().commits.commit_together, [shared[1], neighbour]),
    )
    for each in (*shared, neighbour):
        store.commits.commit(each)

    assert count(store, "sink") == 2


def test_a_key_that_was_taken_meanwhile_breaks_the_group(store, leases):
    """As after a race: nothing of a commit that another was faster with is left."""
    first, second = request(leases[0], key="shared"), request(leases[1], key="shared")

    with pytest.raises(GroupBroken):
        store.commits.commit_together([first, second])

    assert (count(store, "sink"), count(store, "haulwright_effects")) == (0, 0)


def test_a_large_result_is_kept_beside_its_row(store, leases):
    text = '"' + "x" * EFFECT_INLINE_LIMIT_BYTES + '"'
    large = request(leases[0], lambda _connection: text)

    store.commits.commit_together([large, request(leases[1])])

    assert store.effects.find("default", large.key).result == text
    assert count(store, "haulwright_blobs") == 1


@pytest.mark.parametrize(
    "statement",
    ["savepoint mine", "rollback", "commit", "  SET local lock_timeout = 1", "SELECT set_Config('a.b', 'c', true)"],
)
def test_what_is_about_the_transaction_is_done_alone(store, leases, statement):
    """It would reach the neighbours, and an end of it would acknowledge what is not on disk."""

    def meddle(connection):
        save(connection)
        connection.execute(statement)
        return "1"

    with pytest.raises(GroupBroken) as broken:
        store.commits.commit_together([request(leases[0]), request(leases[1], meddle)])

    assert isinstance(broken.value.__cause__, NotInGroup)
    assert count(store, "sink") == 0


def test_what_was_refused_breaks_the_group_although_the_function_went_on(store, leases):
    def go_on(connection):
        try:
            connection.execute("savepoint mine")
        except NotInGroup:
            return "1"
        raise AssertionError

    with pytest.raises(GroupBroken):
        store.commits.commit_together([request(leases[0]), request(leases[1], go_on)])

    assert count(store, "sink") == 0


def test_a_function_that_ends_the_transaction_by_another_way_breaks_the_group(store, leases):
    """As SQLite itself does where the disk is full: what follows would be in no transaction."""
    raws = []

    def end(connection):
        connection._connection.execute("rollback")
        return "1"

    def after(connection):
        raws.append(connection)
        return save(connection)

    with pytest.raises(GroupBroken):
        store.commits.commit_together([request(leases[0]), request(leases[1], end), request(leases[2], after)])

    assert (raws, count(store, "sink")) == ([], 0)


@pytest.fixture
def watch(store, monkeypatch):
    """The monotonic clock of commits, which stands still until a test moves it."""
    watch = SimpleNamespace(time=0.0)
    monkeypatch.setattr(store.commits, "_monotonic", lambda: watch.time)
    return watch


def test_a_function_goes_with_others_when_it_is_known_to_be_quick(store, leases, watch):
    seconds = [SLOW_SECONDS, SLOW_SECONDS * 2]

    def function(connection):
        watch.time += seconds.pop(0)
        return save(connection)

    assert not store.commits.may_join(request(leases[0], function))
    store.commits.commit(request(leases[0], function))
    assert store.commits.may_join(request(leases[1], function))

    store.commits.commit_together([request(leases[1], function)])
    assert not store.commits.may_join(request(leases[2], function))


def test_a_function_that_broke_a_group_goes_alone_for_a_while(store, leases, watch):
    def raise_in_company(connection):
        if len(rows(store, "select 1")) and type(connection).__name__ == "GroupConnection":
            raise ValueError
        return save(connection)

    mine = request(leases[0], raise_in_company)
    with pytest.raises(GroupBroken):
        store.commits.commit_together([mine, request(leases[1])])

    assert not store.commits.may_join(mine)
    watch.time += ALONE_SECONDS
    assert store.commits.may_join(mine)


def test_a_method_is_known_again_and_so_is_a_partial():
    class Saver:
        def save(self): ...

    assert code_of(Saver().save) is code_of(partial(partial(Saver().save), 1)) is Saver.save.__code__
    assert code_of(print) is None


@pytest.mark.postgres
def test_no_commit_of_a_group_waits_long_for_the_lock_of_somebody(store, leases):
    """All of them would wait. Alone each waits as long as any transaction."""
    if store.database.dialect == "sqlite":
        pytest.skip("an immediate transaction has waited before it began")
    patience = []

    def look(connection):
        patience.extend(connection.execute("select current_setting('lock_timeout')"))
        return "1"

    store.commits.commit_together([request(leases[0], look), request(leases[1])])
    store.commits.commit(request(leases[2], look))

    assert patience == [("200ms",), ("10s",)]

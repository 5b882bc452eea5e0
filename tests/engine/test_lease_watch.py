"""When a lease is lost, by what was seen of it: pure rules, without a clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright.clock import SECOND
from haulwright.engine.lease import (
    LATE_LOOKS,
    LONGEST_WATCH_SECONDS,
    Sighting,
    counted_seconds,
    ran_ahead,
    renewal_seconds,
    watch_seconds,
)

LEASES = st.integers(100_000, 7 * 86400 * SECOND)
SECONDS = st.floats(0, 1e6)
INSTANTS = st.integers(0, 4_000_000_000 * SECOND)
SIGHTINGS = st.builds(Sighting, INSTANTS, INSTANTS, LEASES, SECONDS)


def test_the_default_lease_is_watched_for_half_a_minute_and_a_short_one_for_a_second():
    assert [watch_seconds(seconds * SECOND) for seconds in (1, 3, 12, 120, 3600)] == [1, 1, 3, 30, 30]


@given(LEASES)
def test_a_lease_is_watched_for_longer_than_a_living_worker_leaves_it_and_for_a_bounded_time(lease_us):
    assert renewal_seconds(lease_us) < watch_seconds(lease_us) <= LONGEST_WATCH_SECONDS


@given(SIGHTINGS, SECONDS, INSTANTS)
def test_a_lease_is_lost_only_where_it_ran_out_and_stood_still(sighting, watched, now):
    stood_still = watched - sighting.since >= watch_seconds(sighting.lease_us)

    assert sighting.is_lost(watched, now) == (stood_still and sighting.expires_at < now)


@given(SIGHTINGS, SIGHTINGS)
def test_a_heartbeat_that_moved_begins_anew_whichever_way_it_moved(before, seen):
    assert seen.after(None) == seen
    assert seen.after(before).since == (before.since if before.heartbeat_at == seen.heartbeat_at else seen.since)
    assert seen.after(before).expires_at == seen.expires_at


@given(SIGHTINGS, SECONDS, INSTANTS)
def test_who_waits_as_long_as_is_planned_finds_the_lease_lost_and_not_sooner(sighting, watched, now):
    wait = sighting.seconds_to_loss(watched, now)
    just_before, just_after = max(0.0, wait - 0.01), wait + 0.01

    assert sighting.is_lost(watched + just_after, now + round(just_after * SECOND))
    assert wait == 0 or not sighting.is_lost(watched + just_before, now + round(just_before * SECOND))


@given(SECONDS, SECONDS)
def test_a_pause_counts_no_more_than_was_planned_and_a_little(paused, planned):
    assert counted_seconds(paused, planned) <= paused
    assert counted_seconds(paused, planned) <= LATE_LOOKS * planned


@pytest.mark.parametrize(
    ("database_seconds", "seconds", "ahead"),
    [(1, 1, False), (1.05, 1, False), (1.2, 1, True), (3600, 1, True), (-3600, 1, False), (0, 1, False)],
    ids=["alike", "a little fast", "a step", "an hour", "an hour back", "standing still"],
)
def test_a_clock_that_goes_further_than_time_can_was_set(database_seconds, seconds, ahead):
    assert ran_ahead(round(database_seconds * SECOND), seconds) is ahead


@given(
    st.integers(2 * SECOND, 600 * SECOND),
    st.lists(st.tuples(st.floats(0.01, 1.0), st.integers(-3600 * SECOND, 3600 * SECOND)), max_size=200),
)
def test_no_jump_of_the_databases_clock_takes_a_lease_from_a_worker_that_renews(lease_us, looks):
    """Looks at any pace, a jump before each, and a renewal as often as a living worker makes it."""
    now, database_now, renewed, heartbeat_at = 0.0, 10**15, 0.0, 10**15
    sighting: Sighting | None = None
    for pause, jump in looks:
        now, database_now = now + pause, database_now + round(pause * SECOND) + jump
        if now - renewed >= renewal_seconds(lease_us):
            renewed, heartbeat_at = now, database_now
        sighting = Sighting(heartbeat_at, heartbeat_at + lease_us, lease_us, now).after(sighting)

        assert not sighting.is_lost(now, database_now)

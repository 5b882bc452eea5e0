from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from haulwright.engine.schedule import Disposition, Opening, ScheduleSpec, newest_slot, next_slot, plan, slots_between
from haulwright.errors import InvalidPayload, InvalidValue

MINUTE = 60_000_000
NOW = 1_750_000_000_000_000 // MINUTE * MINUTE
FIRED, COALESCED, MISSED = Disposition.FIRED, Disposition.COALESCED, Disposition.MISSED
OVERLAP, PAUSED = Disposition.SKIPPED_OVERLAP, Disposition.SKIPPED_PAUSED

# Days around which clocks change: by an hour at night, by an hour at midnight, by half an hour, by two hours.
CHANGES = [
    *[("Europe/Berlin", "2025-03-30"), ("Europe/Berlin", "2025-10-26")],
    *[("America/New_York", "2025-03-09"), ("America/New_York", "2025-11-02")],
    *[("America/Santiago", "2024-09-08"), ("America/Santiago", "2024-04-07")],
    *[("Australia/Lord_Howe", "2025-10-05"), ("Australia/Lord_Howe", "2025-04-06")],
    *[("Antarctica/Troll", "2025-03-30"), ("Antarctica/Troll", "2025-10-26")],
]


def declare(cron="* * * * *", **options):
    return ScheduleSpec.declare("hourly prices", cron, "scrape_all", **options)


def moment(text):
    return (datetime.fromisoformat(text).astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


def told(slots):
    return [f"{datetime.fromtimestamp(slot // 1_000_000, UTC):%m-%d %H:%M}" for slot in slots]


def slots_of_day(cron, tz, day):
    """The slots of a local day, told in UTC."""
    midnight = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(tz))
    start, end = midnight.isoformat(), (midnight + timedelta(days=1)).isoformat()
    return told(slots_between(declare(cron, tz=tz), moment(start) - 1, moment(end) - 1, 10_000))


def plan_minutes(*minutes_ago, now=NOW, paused=False, active=False, taken=(), newest=None, **options):
    """What becomes of slots so many minutes ago, as (minutes ago, disposition)."""
    due = [now - minutes * MINUTE for minutes in minutes_ago]
    openings = plan(declare(**options), due, now, paused=paused, active=active, taken=taken, newest=newest)
    return [((now - opening.slot_us) // MINUTE, opening.disposition) for opening in openings]


@pytest.mark.proves("SL-03")
def test_a_slot_is_a_moment_in_utc_whatever_zone_the_schedule_is_read_in():
    assert slots_of_day("30 6 * * *", "Europe/Berlin", "2025-01-15") == ["01-15 05:30"]
    assert slots_of_day("30 6 * * *", "Europe/Berlin", "2025-07-15") == ["07-15 04:30"]
    assert slots_of_day("30 6 * * *", "Asia/Kathmandu", "2025-07-15") == ["07-15 00:45"]
    assert slots_of_day("30 6 * * *", "UTC", "2025-07-15") == ["07-15 06:30"]


def test_slots_begin_after_one_moment_and_end_with_another():
    spec, start = declare("*/5 * * * *"), moment("2025-06-01T10:00:00Z")
    assert told(slots_between(spec, start, start + 10 * MINUTE, 100)) == ["06-01 10:05", "06-01 10:10"]
    assert told(slots_between(spec, start - 1, start + 10 * MINUTE - 1, 100)) == ["06-01 10:00", "06-01 10:05"]
    assert slots_between(spec, start, start, 100) == []
    assert told(slots_between(spec, start, start + 10**15, 1)) == ["06-01 10:05"]
    assert next_slot(spec, start) == start + 5 * MINUTE


@pytest.mark.parametrize(
    ("cron", "tz", "day", "slots"),
    [
        # The clocks skip 02:00 to 03:00: a fixed time in it runs right after the gap, once.
        ("30 2 * * *", "Europe/Berlin", "2025-03-30", ["03-30 01:00"]),
        ("0,20,40 2 * * *", "Europe/Berlin", "2025-03-30", ["03-30 01:00"]),
        ("0 2,3 * * *", "Europe/Berlin", "2025-03-30", ["03-30 01:00"]),
        ("30 2 * * *", "America/New_York", "2025-03-09", ["03-09 07:00"]),
        # The clocks repeat an hour: a fixed time in it runs once, the first time.
        ("30 2 * * *", "Europe/Berlin", "2025-10-26", ["10-26 00:30"]),
        ("30 1 * * *", "America/New_York", "2025-11-02", ["11-02 05:30"]),
        ("0 1-3 * * *", "Europe/Berlin", "2025-10-26", ["10-25 23:00", "10-26 00:00", "10-26 02:00"]),
        # With a star in front, real time decides.
        ("*/30 2 * * *", "Europe/Berlin", "2025-03-30", []),
        ("*/30 2 * * *", "Europe/Berlin", "2025-10-26", ["10-26 00:00", "10-26 00:30", "10-26 01:00", "10-26 01:30"]),
        (
            "*/30 1 * * *",
            "America/New_York",
            "2025-11-02",
            ["11-02 05:00", "11-02 05:30", "11-02 06:00", "11-02 06:30"],
        ),
        ("*/20 1 * * *", "America/Santiago", "2024-09-08", ["09-08 04:00", "09-08 04:20", "09-08 04:40"]),
    ],
)
def test_a_change_of_clocks_is_met_by_the_rule_of_debian(cron, tz, day, slots):
    assert slots_of_day(cron, tz, day) == slots


@pytest.mark.parametrize(("tz", "hours"), [("Europe/Berlin", (23, 25)), ("America/New_York", (23, 25))])
def test_an_hourly_schedule_has_a_slot_in_every_real_hour(tz, hours):
    days = [day for zone, day in CHANGES if zone == tz]
    assert tuple(len(slots_of_day("0 * * * *", tz, day)) for day in days) == hours


@pytest.mark.parametrize(("tz", "day"), CHANGES)
@pytest.mark.parametrize("cron", ["* * * * *", "30 * * * *", "*/20 1,3 * * *", "* 2 * * *", "* 0 * * SUN"])
def test_a_schedule_in_real_time_is_due_whenever_the_clock_on_the_wall_matches(cron, tz, day):
    zone, noon = ZoneInfo(tz), moment(f"{day}T12:00:00Z")
    start, end = noon - 1500 * MINUTE, noon + 600 * MINUTE
    faces = {
        minute: (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=minute))
        .astimezone(zone)
        .replace(tzinfo=None)
        for minute in range(start + MINUTE, end + 1, MINUTE)
    }
    due = [minute for minute, face in faces.items() if next(CronSim(cron, face - timedelta(seconds=1))) == face]
    assert slots_between(declare(cron, tz=tz), start, end, 10_000) == due


@pytest.mark.parametrize(("tz", "day"), CHANGES[:4])
@pytest.mark.parametrize("cron", ["30 2 * * *", "15,45 1-3 * * *", "0 0 * * *", "59 1 * * 0"])
def test_a_schedule_at_fixed_times_is_due_as_cronsim_says(cron, tz, day):
    noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    start, end = noon - timedelta(days=2), noon + timedelta(days=2)
    expected = []
    for slot in CronSim(cron, start.astimezone(ZoneInfo(tz))):
        if slot > end:
            break
        expected.append(moment(slot.isoformat()))
    assert slots_between(declare(cron, tz=tz), moment(start.isoformat()), moment(end.isoformat()), 1_000) == expected


def test_a_walk_that_begins_within_the_repeated_hour_sees_all_of_its_second_pass():
    spec, within = declare("*/30 2 * * *", tz="Europe/Berlin"), moment("2025-10-26T02:10:00+02:00")
    assert told(slots_between(spec, within, within + 120 * MINUTE, 9)) == ["10-26 00:30", "10-26 01:00", "10-26 01:30"]
    assert told(slots_between(spec, within + 60 * MINUTE, within + 120 * MINUTE, 9)) == ["10-26 01:30"]


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(CHANGES), st.sampled_from(["* * * * *", "*/7 1-2 * * *", "45 2 * * *"]), st.integers(0, 2880))
def test_slots_do_not_depend_on_where_the_walk_begins(change, cron, minutes):
    tz, day = change
    spec, start = declare(cron, tz=tz), moment(f"{day}T12:00:00Z") - 1440 * MINUTE
    later, end = start + minutes * MINUTE, start + 2880 * MINUTE
    whole = slots_between(spec, start, end, 10_000)
    assert slots_between(spec, later, end, 10_000) == [slot for slot in whole if slot > later]
    assert all(earlier < after for earlier, after in pairwise(whole))


@settings(deadline=None)
@given(st.sampled_from(CHANGES), st.sampled_from(["* * * * *", "0-9 * * * *", "45 2 * * *"]), st.integers(0, 2880))
def test_the_newest_slot_is_the_last_of_all_without_walking_over_the_others(change, cron, minutes):
    tz, day = change
    spec, start = declare(cron, tz=tz), moment(f"{day}T12:00:00Z") - 1440 * MINUTE
    slots = slots_between(spec, start, start + minutes * MINUTE, 10_000)
    assert newest_slot(spec, start, start + minutes * MINUTE) == max(slots, default=None)
    assert newest_slot(spec, start, start + minutes * MINUTE, taken=slots[-3:]) == max(slots[:-3], default=None)


def test_the_newest_slot_of_fifty_years_of_minutes_is_found_at_once():
    assert newest_slot(declare("* * * 1 *"), 0, moment("2025-12-01T00:00:00Z")) == moment("2025-01-31T23:59:00Z")


def test_a_rare_schedule_finds_its_day():
    leap_sundays = declare("0 0 29 2 */7")
    assert told([next_slot(leap_sundays, moment("2033-01-01T00:00:00Z"))]) == ["02-29 00:00"]
    assert newest_slot(leap_sundays, 0, moment("2033-01-01T00:00:00Z")) == moment("2032-02-29T00:00:00Z")


def test_a_schedule_ends_with_the_calendar_and_not_with_an_error():
    assert next_slot(declare("0 0 29 2 *"), moment("9999-06-01T00:00:00Z")) is None
    assert slots_between(declare(tz="Europe/Berlin"), 10**30, 10**31, 5) == []


@pytest.mark.parametrize(
    "cron",
    [
        *[
            "",
            "*",
            "* * * *",
            "* * * * * *",
            "@fortnightly",
            "@reboot",
            "61 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
        ],
        *["5-1 * * * *", "*/0 * * * *", "1--100000000 * * * *", "0-99999999 * * * *", "x * * * *", "* * * * MOON"],
        *[
            "1,, * * * *",
            "\uff11 * * * *",
            "* * * * \u017fun",
            "0\n0 * * *",
            "* " * 200,
            "1," * 150 + "1 * * * *",
            None,
        ],
    ],
)
def test_a_malformed_cron_line_is_refused_with_an_example(cron):
    with pytest.raises(InvalidValue, match=r"^cron: (.|\n)*MON-FRI"):
        declare(cron)


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"), ("@monthly", "0 0 1 * *"), ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"), (" @Hourly ", "0 * * * *"),
        ("0 6 * * MON-SUN", "0 6 * * MON-7"), ("0 6 * * sat-sun,WED", "0 6 * * sat-7,WED"),
        ("0 6 * * MON-SUN/2", "0 6 * * MON-7/2"), ("0 6 * * SUN", "0 6 * * SUN"),
    ],
)  # fmt: skip
def test_nicknames_and_weeks_that_end_on_sunday_mean_what_cron_means_by_them(written, line):
    assert declare(written).cron == line
    assert next_slot(declare(written), NOW) == next_slot(declare(line), NOW)


def test_a_whole_week_is_every_day_of_it():
    week = moment("2024-01-08T00:00:00Z")

    assert len(slots_between(declare("0 6 * * MON-SUN"), week, week + 7 * 86_400_000_000, 100)) == 7


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 */40 * MON#5"])
def test_a_cron_line_that_never_fires_is_refused(cron):
    with pytest.raises(InvalidValue, match=r"bad day-of-month|never fires"):
        declare(cron)


@settings(deadline=None)
@given(st.lists(st.text("0123456789*/,-#LWSUNMOJAx", min_size=1, max_size=6), min_size=5, max_size=5))
def test_any_cron_line_is_understood_or_refused_and_nothing_else(fields):
    try:
        spec = declare(" ".join(fields))
    except InvalidValue:
        return
    assert next_slot(spec, NOW) > NOW


@pytest.mark.parametrize(
    ("tz", "hint"),
    [
        ("Europe/Berln", "Did you mean 'Europe/Berlin'?"),
        ("europe/berlin", "Did you mean 'Europe/Berlin'?"),
        ("Berlin", "Did you mean 'Europe/Berlin'?"),
        ("", "Name a zone"),
        ("localtime", "Name a zone"),
        ("../../etc/hosts", "Name a zone"),
        ("/etc/localtime", "Name a zone"),
        ("Europe", ""),
        ("a\0b", ""),
        ("x" * 9_999, "Name a zone"),
        (None, ""),
        (5, ""),
    ],
)
def test_an_unknown_zone_is_refused_with_the_nearest_name(tz, hint):
    with pytest.raises(InvalidValue, match="is no time zone") as refusal:
        declare(tz=tz)
    assert hint in refusal.value.hint


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("misfire_grace", value) for value in (-1, 0, "0.5 s", "soon", float("nan"), True)],
        *[("max_runtime", value) for value in (-1, 0, "1 ms", "long")],
        *[("overlap", value) for value in ("queue", None, True)],
        *[("attempts", value) for value in (0, -1, 1001, 1.5, True)],
        *[("coalesce", value) for value in (None, 1, "yes")],
        *[("tenant", value) for value in ("", "  ", "a\nb", "x" * 201, None)],
    ],
)
def test_a_senseless_option_is_refused_when_the_schedule_is_declared(option, value):
    with pytest.raises(InvalidValue, match=f"^{option}: "):
        declare(**{option: value})


def test_a_schedule_whose_arguments_cannot_be_stored_is_refused_naming_the_field():
    with pytest.raises(InvalidPayload, match=r"args\.since: is of type datetime"):
        declare(args={"since": datetime(2025, 1, 1, tzinfo=UTC)})


@pytest.mark.proves("CF-05", "SL-10", "SL-11")
def test_each_schedule_says_how_it_coalesces_how_late_it_fires_and_how_long_it_runs():
    spec = declare(" */5  * * * * ", coalesce=False, misfire_grace="1 h", max_runtime="10 min", args={"b": 1, "a": 2})
    assert (spec.cron, spec.args) == ("*/5 * * * *", '{"a":2,"b":1}')
    assert (spec.coalesce, spec.misfire_grace_seconds, spec.max_runtime_seconds) == (False, 3600, 600)
    default = declare()
    assert (default.coalesce, default.misfire_grace_seconds, default.max_runtime_seconds) == (True, 300, None)
    assert declare(misfire_grace=None).misfire_grace_seconds is None


@pytest.mark.proves("SL-10")
def test_a_coalescing_schedule_fires_the_newest_slot_and_merges_the_others_into_it():
    openings = plan(declare(), [NOW - 2 * MINUTE, NOW - MINUTE, NOW], NOW, paused=False, active=False)
    assert openings == [
        Opening(NOW - 2 * MINUTE, COALESCED, merged_into=NOW),
        Opening(NOW - MINUTE, COALESCED, merged_into=NOW),
        Opening(NOW, FIRED),
    ]
    assert [opening.fires for opening in openings] == [False, False, True]


@pytest.mark.proves("SL-11")
def test_a_slot_later_than_the_grace_is_missed_and_one_at_its_edge_still_fires():
    assert plan_minutes(7, 6, misfire_grace="5 min") == [(7, MISSED), (6, MISSED)]
    assert plan_minutes(6, 5, misfire_grace="5 min") == [(6, MISSED), (5, FIRED)]
    assert plan_minutes(5, misfire_grace="299.999999 s") == [(5, MISSED)]


def test_a_schedule_without_a_grace_never_misses():
    assert plan_minutes(10**6, misfire_grace=None) == [(10**6, FIRED)]


@pytest.mark.proves("SL-09")
def test_while_a_job_is_active_the_slot_that_would_fire_is_skipped_and_the_merged_stay_merged():
    assert plan_minutes(2, 1, 0, active=True) == [(2, COALESCED), (1, COALESCED), (0, OVERLAP)]
    assert plan_minutes(2, 1, 0, active=True, coalesce=False) == [(2, OVERLAP), (1, OVERLAP), (0, OVERLAP)]


@pytest.mark.proves("SL-09")
def test_without_coalescing_only_the_oldest_slot_fires_where_jobs_may_not_overlap():
    assert plan_minutes(2, 1, 0, coalesce=False) == [(2, FIRED), (1, OVERLAP), (0, OVERLAP)]


def test_where_jobs_may_overlap_an_active_one_holds_nothing_up():
    options = {"active": True, "overlap": "allow"}
    assert plan_minutes(2, 1, 0, coalesce=False, **options) == [(2, FIRED), (1, FIRED), (0, FIRED)]
    assert plan_minutes(2, 1, 0, **options) == [(2, COALESCED), (1, COALESCED), (0, FIRED)]


def test_while_paused_every_slot_is_skipped_as_paused_even_a_late_one():
    assert plan_minutes(99, 1, 0, paused=True) == [(99, PAUSED), (1, PAUSED), (0, PAUSED)]


def test_a_slot_that_already_has_its_disposition_gets_no_second_one():
    assert plan_minutes(2, 1, 0, taken={NOW}) == [(2, COALESCED), (1, FIRED)]
    assert plan_minutes(0, taken={NOW}) == []


def test_catching_up_in_batches_fires_once_at_the_newest_slot():
    options = {"misfire_grace": None, "newest": NOW}
    assert plan_minutes(4, 3, **options) == [(4, COALESCED), (3, COALESCED)]
    assert plan_minutes(2, 1, **options) == [(2, COALESCED), (1, COALESCED)]
    assert plan_minutes(0, **options) == [(0, FIRED)]


def test_three_days_of_downtime_make_one_job():
    spec = declare("*/5 * * * *")
    due = slots_between(spec, NOW - 3 * 1440 * MINUTE, NOW, 10_000)
    openings = plan(spec, due, NOW, paused=False, active=False)
    assert len(openings) == 864
    assert [opening.slot_us for opening in openings if opening.fires] == [due[-1]]
    assert sum(opening.disposition is MISSED for opening in openings) >= 862


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 20), max_size=12),
    st.builds(
        dict,
        coalesce=st.booleans(),
        misfire_grace=st.none() | st.integers(1, 1200),
        overlap=st.sampled_from(["skip", "allow"]),
    ),
    st.booleans(),
    st.booleans(),
    st.sets(st.integers(0, 20), max_size=4),
)
def test_every_due_slot_gets_exactly_one_disposition_in_order(minutes, options, paused, active, taken):
    due = [NOW - minute * MINUTE for minute in minutes]
    taken = {NOW - minute * MINUTE for minute in taken}
    openings = plan(declare(**options), due, NOW, paused=paused, active=active, taken=taken)
    assert [opening.slot_us for opening in openings] == sorted(set(due) - taken)
    fires = [opening.slot_us for opening in openings if opening.fires]
    if options["overlap"] == "skip":
        assert len(fires) <= (0 if active else 1)
    if paused:
        assert not fires
    merged = {opening.merged_into for opening in openings if opening.disposition is COALESCED}
    assert merged <= {opening.slot_us for opening in openings if opening.disposition in (FIRED, OVERLAP)}

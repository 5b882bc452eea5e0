"""Schedules and slots from the command line."""

from __future__ import annotations

import pytest

from tests.cli.conftest import SHOP

SLOT = "2023-12-31T20:00:00Z"


@pytest.fixture
def schedule(haulwright, clock):
    """`haulwright schedule ...` with the app, at midnight of 2024-01-01 in UTC."""
    del clock
    return lambda *words: haulwright("schedule", *words, "-A", SHOP)


def test_schedules_of_the_code_are_listed_before_a_worker_declared_them(schedule, haulwright):
    before = schedule("list", "--json").json["schedules"]
    haulwright("worker", "-A", SHOP, "--until-empty")
    after = schedule("list", "--json").json["schedules"]

    assert [(one["name"], one["declared"]) for one in before] == [("daily prices", False), ("hourly prices", False)]
    assert [(one["name"], one["declared"]) for one in after] == [("daily prices", True), ("hourly prices", True)]


def test_next_prints_the_times_of_the_zone_and_of_utc(schedule, clock):
    clock.set(1_711_756_800_000_000)  # 2024-03-30, the day before the clocks of Berlin go forward

    slots = schedule("next", "daily prices", "-n", "3", "--json").json["slots"]

    assert [slot["local"] for slot in slots] == [
        "2024-03-30T02:30:00+01:00",
        "2024-03-31T03:00:00+02:00",
        "2024-04-01T02:30:00+02:00",
    ]
    assert [slot["utc"] for slot in slots][1] == "2024-03-31T01:00:00Z"


def test_next_without_a_name_is_about_all_in_the_order_of_time(schedule):
    slots = schedule("next", "-n", "2", "--json").json["slots"]

    assert [slot["utc"] for slot in slots] == sorted(slot["utc"] for slot in slots)
    assert {slot["schedule"] for slot in slots} == {"daily prices", "hourly prices"}


@pytest.mark.proves("MT-02")
def test_a_manual_run_claims_its_slot_and_a_taken_one_is_refused_naming_its_job(schedule, haulwright):
    job_id = schedule("trigger", "hourly prices", "--scheduled-for", SLOT, "--json").json["job_id"]

    again = schedule("trigger", "hourly prices", "--scheduled-for", SLOT)

    assert haulwright("job", "show", job_id, "--json").json["args"]["sku"] == "A2"
    assert again.code == 4
    assert job_id in again.err


def test_a_backfill_opens_what_is_not_taken(schedule):
    schedule("trigger", "hourly prices", "--scheduled-for", SLOT)
    words = ("hourly prices", "--from", "2023-12-31T18:00:00Z", "--to", "2023-12-31T22:00:00+00:00", "--json")

    looked = schedule("backfill", *words, "--dry-run").json["slots"]
    opened = schedule("backfill", *words).json["opened"]
    again = schedule("backfill", *words).json["opened"]

    assert len(looked) == 5
    assert [slot["scheduled_for"][11:13] for slot in opened] == ["18", "19", "21", "22"]
    assert {slot["disposition"] for slot in opened} == {"backfilled"}
    assert again == []


def test_show_tells_what_became_of_the_slots(schedule):
    schedule("trigger", "hourly prices", "--scheduled-for", SLOT)

    shown = schedule("show", "hourly prices", "--json").json

    assert [(slot["scheduled_for"], slot["disposition"]) for slot in shown["slots"]] == [(SLOT, "manual")]
    assert "manual" in schedule("show", "hourly prices").out


def test_a_paused_schedule_skips_and_a_resumed_one_fires(schedule, haulwright, clock):
    assert schedule("pause", "hourly prices", "--json").json["changed"] is True
    assert schedule("pause", "hourly prices", "--json").json["changed"] is False
    clock.advance(3600)
    haulwright("worker", "-A", SHOP, "--until-empty")
    assert schedule("resume", "hourly prices", "--json").json["changed"] is True
    clock.advance(3600)
    haulwright("worker", "-A", SHOP, "--until-empty")

    slots = schedule("show", "hourly prices", "--json").json["slots"]

    assert [slot["disposition"] for slot in slots] == ["fired", "skipped_paused"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["trigger", "nothing", "--scheduled-for", SLOT], 3, "There is no schedule"),
        (["trigger", "hourly prices"], 2, "--scheduled-for"),
        (["trigger", "hourly prices", "--scheduled-for", "2036-01-01T06:00:00Z"], 2, "is in the future"),
        (["show", "nothing"], 3, "There is no schedule"),
        (["trigger", "hourly prices", "--scheduled-for", "2023-12-31T20:00:00"], 2, "no time zone"),
        (["trigger", "hourly prices", "--scheduled-for", "tomorrow"], 2, "is no time"),
        (["backfill", "hourly prices", "--from", SLOT, "--to", "2024-02-01T00:00:00Z"], 2, "in the future"),
        (["backfill", "hourly prices", "--from", SLOT, "--to", "2023-12-30T00:00:00Z"], 2, "begins after its end"),
        (["backfill", "hourly prices", "--from", "1990-01-01T00:00:00Z", "--to", SLOT], 2, "more than 10000 slots"),
        (["backfill", "hourly prices", "--from", SLOT], 2, "--to"),
        (["next", "--count", "0"], 2, "not between 1 and 1000"),
    ],
)
def test_what_makes_no_sense_is_refused_and_opens_nothing(schedule, words, code, told):
    answer = schedule(*words)

    assert answer.code == code
    assert told in answer.err
    assert schedule("show", "hourly prices", "--json").json["slots"] == []


@pytest.mark.proves("CF-05")
def test_a_schedule_shows_its_runtime_coalescing_and_grace(schedule):
    shown = schedule("show", "daily prices", "--json").json

    assert (shown["max_runtime_seconds"], shown["coalesce"], shown["misfire_grace_seconds"]) == (None, True, 300.0)

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright.sources.feeds import parse_feed
from haulwright.sources.tools.dates import read_date

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
NINE = datetime(2026, 11, 14, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "Sat, 14 Nov 2026 09:00:00 GMT",
        "Sat, 14 Nov 2026 09:00:00 +0000",
        "Sat, 14 Nov 2026 10:00:00 +0100",
        "Sat,14 Nov 2026 04:00:00 EST",
        "Saturday, 14-Nov-26 09:00:00 UTC",
        "14 Nov 26 9:00 Z",
        "14 November 2026 09:00 GMT",
        "Sat, 14 Nov 2026 10:00:00 CET",
        "Sat, 14 Nov 2026 11:00:00 GMT+0200 (CEST)",
        "Tue, 14 Nov 2026 09:00:00 GMT",
        "  Sat,\n 14  Nov 2026 09:00:00  GMT ",
        "2026-11-14T09:00:00Z",
        "2026-11-14T09:00:00.000Z",
        "2026-11-14t10:00+01:00",
        "2026-11-14 10:00:00 +0100",
        "20261114T090000Z",
        "Nov 14, 2026 9:00 AM UTC",
        "Sat Nov 14 09:00:00 UTC 2026",
        "Sat Nov 14 01:00:00 PST 2026",
        "Sat Nov 14 09:00:00 +0000 2026",
        "2026/11/14 09:00:00 Z",
        "2026.11.14 09:00 UTC",
        "14th Nov 2026 09:00 GMT",
        "November 14th, 2026 at 9:00 a.m. UTC",
        "Saturday, November 14, 2026 - 9:00am UTC",
        "Sat, 14 Nov 2026 01:00:00 America/Los_Angeles",
        "2026-11-14 06:00 America/Argentina/Buenos_Aires",
        "2026-11-14T10:00:00[Europe/Berlin]",
        "2026-11-14T10:00:00+01:00[Europe/Berlin]",
        "2026-11-14 10:00:00+01",
        "Sat, 14 Nov 2026 11:00:00 GMT+2",
        "Samstag, 14. November 2026 - 10:00 Uhr MEZ",
        "Sa, 14 Nov 2026 09:00:00 +0000",
        "samedi 14 novembre 2026 à 10h00 CET",
        "20261114090000Z",
        "1794646800",
        "1794646800.0",
        "1794646800000",
    ],
)
def test_one_moment_is_read_in_all_its_spellings(written):
    assert read_date(written, now=NOW) == (NINE, None)


@pytest.mark.parametrize(
    ("written", "moment", "note"),
    [
        ("Sat, 14 Nov 2026 09:00:00", NINE, "has no zone and was taken as UTC"),
        ("2026-11-14 09:00", NINE, "has no zone and was taken as UTC"),
        ("2026/11/14 9:00", NINE, "has no zone and was taken as UTC"),
        ("Sat, 14 Nov 2026 09:00:00 AMT", NINE, "has the unknown zone AMT and was taken as UTC"),
        ("Sat, 14 Nov 2026 09:00 PMT", NINE, "has the unknown zone PMT and was taken as UTC"),
        ("2026-11-14 09:00 Mars/Olympus", NINE, "has the unknown zone Mars/Olympus and was taken as UTC"),
        (
            "2026-10-25 02:30 Europe/Berlin",
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
            "names an hour that the clocks repeat and was taken as the first",
        ),
        ("Sat, 14 Nov 2026 09:00:00 IST", NINE, "has the unknown zone IST and was taken as UTC"),
        ("Fri, 15 Jan 2038 09:00:00 GMT", datetime(2038, 1, 15, 9, tzinfo=UTC), "is in the future"),
    ],
)
def test_what_had_to_be_assumed_is_said(written, moment, note):
    assert read_date(written, now=NOW) == (moment, f"the date {written!r} {note}")


@pytest.mark.parametrize(
    "written",
    ["31 Feb 2026 09:00 GMT", "14 Nov 2026 25:00 GMT", "14 Nov 2026 09:61 GMT", "14 Xyz 2026 09:00 GMT", "2026-13-01",
     "14 Nov 2026 24:01 GMT", "14 Nov 2026 09:00 +9900", "yesterday", "11/12/2026", "2026111409", "x" * 1_000,
     "14 Jui 2026 09:00 GMT", "14 Nov 2026 0:30 pm GMT", "14 Nov 2026 15:00 am GMT", "14 Nov 2026 09:00 +0160",
     "03/04/05", "1995010112"],
)  # fmt: skip
def test_a_date_that_cannot_be_is_none_with_a_short_reason(written):
    moment, why = read_date(written, now=NOW)

    assert moment is None
    assert why.startswith("the date ")
    assert len(why) < 120


@pytest.mark.parametrize(
    ("written", "month"),
    [("1er févr. 2026", 2), ("1 août 2026", 8), ("1 décembre 2026", 12), ("1 juin 2026", 6), ("1 juil. 2026", 7),
     ("mardi 1 avr. 2026", 4), ("1. März 2026", 3), ("1. Mrz 2026", 3), ("1. Jänner 2026", 1), ("1. Mai 2026", 5),
     ("Mi., 1. Okt. 2026", 10), ("1. Dez 2026", 12), ("1 Sept. 2026", 9), ("May 1, 2026", 5), ("Mar 1, 2026", 3)],
)  # fmt: skip
def test_months_are_read_in_english_german_and_french(written, month):
    assert read_date(written, now=NOW)[0] == datetime(2026, month, 1, tzinfo=UTC)


def test_noon_in_a_zone_whose_name_begins_with_am_is_not_midnight():
    written = "Fri, 31 Mar 2023 12:19:00 America/Los_Angeles"

    assert read_date(written, now=NOW) == (datetime(2023, 3, 31, 19, 19, tzinfo=UTC), None)


@pytest.mark.parametrize("empty", ["0001-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_what_programs_write_for_no_date_is_no_date(empty):
    assert read_date(empty, now=NOW) == (None, f"the date {empty!r} stands for no date")


@pytest.mark.parametrize("nothing", [None, "", " \n"])
def test_no_date_is_nothing_to_warn_of(nothing):
    assert read_date(nothing, now=NOW) == (None, None)


def test_midnight_may_be_written_as_the_end_of_a_day_and_a_leap_second_is_read():
    assert read_date("Fri, 13 Nov 2026 24:00:00 GMT", now=NOW)[0] == datetime(2026, 11, 14, tzinfo=UTC)
    assert read_date("2016-12-31T23:59:60Z", now=NOW)[0] == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("digits", "year"), [("00", 2000), ("26", 2026), ("49", 2049), ("50", 1950), ("99", 1999), ("126", 2026)]
)
def test_short_years_are_of_the_century_that_mail_readers_take(digits, year):
    assert read_date(f"14 Nov {digits} 09:00 GMT", now=NOW)[0].year == year


@given(st.datetimes(datetime(1971, 1, 1), datetime(2026, 1, 1)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001
def test_every_iso_date_in_any_zone_is_the_moment_that_it_says(local, minutes):
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)

    moment, note = read_date(f"{local.isoformat()}{sign}{hours:02}:{rest:02}", now=NOW)

    assert moment == local.replace(tzinfo=UTC) - timedelta(minutes=minutes)
    assert note is None


@given(st.text("0123456789 -+:/,.TZapmGMTSunNov", max_size=40))
def test_no_text_is_too_strange_to_be_answered(text):
    moment, _ = read_date(text, now=NOW)

    assert moment is None or moment.tzinfo is UTC


def test_an_entry_of_the_future_is_kept_and_flagged():
    item = b"<item><guid>1</guid><pubDate>Fri, 15 Jan 2038 09:00:00 GMT</pubDate></item>"
    body = b"<rss version='2.0'><channel>" + item + b"</channel></rss>"

    entry = parse_feed(body, now=NOW).entries[0]

    assert entry.published_at.year == 2038
    assert entry.warnings == ("the date 'Fri, 15 Jan 2038 09:00:00 GMT' is in the future",)

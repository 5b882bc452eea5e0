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
    ],
)
def test_one_moment_is_read_in_all_its_spellings(written):
    assert read_date(written, now=NOW) == (NINE, None)


@pytest.mark.parametrize(
    ("written", "moment", "note"),
    [
        ("Sat, 14 Nov 2026 09:00:00", NINE, "has no zone and was taken as UTC"),
        ("2026-11-14 09:00", NINE, "has no zone and was taken as UTC"),
        ("Sat, 14 Nov 2026 09:00:00 IST", NINE, "has the unknown zone IST and was taken as UTC"),
        ("Fri, 15 Jan 2038 09:00:00 GMT", datetime(2038, 1, 15, 9, tzinfo=UTC), "is in the future"),
    ],
)
def test_what_had_to_be_assumed_is_said(written, moment, note):
    assert read_date(written, now=NOW) == (moment, f"the date {written!r} {note}")


@pytest.mark.parametrize(
    "written",
    ["31 Feb 2026 09:00 GMT", "14 Nov 2026 25:00 GMT", "14 Nov 2026 09:61 GMT", "14 Xyz 2026 09:00 GMT", "2026-13-01",
     "14 Nov 2026 24:01 GMT", "14 Nov 2026 09:00 +9900", "yesterday", "11/12/2026", "1763110800", "x" * 1_000],
)  # fmt: skip
def test_a_date_that_cannot_be_is_none_with_a_short_reason(written):
    moment, why = read_date(written, now=NOW)

    assert moment is None
    assert why.startswith("the date ")
    assert len(why) < 120


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

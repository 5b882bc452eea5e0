"""The chart and the exports of an intake."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from haulwright.apps.prices.chart import WIDTH, chart
from haulwright.apps.prices.export import points_csv
from haulwright.apps.prices.points import Point
from haulwright.apps.prices.valuation import valuate

SVG = "{http://www.w3.org/2000/svg}"


def point(number, minor, kind="sold", **said):
    known = Point(
        "crown", "shop", f"ext_{number}", minor, "GBP", kind, 100, f"2026-08-{number:02}", "Ardish crown", None, 0
    )
    return replace(known, **said)


@pytest.fixture
def points():
    sold = [point(number, 4000 + 100 * number) for number in range(1, 8)]
    return [*sold, point(8, 990_000), point(9, 5000, "ask"), point(10, 4100, "bid")]


def drawn(title, points):
    return ET.fromstring(chart(title, points, valuate([one.priced for one in points])))  # noqa: S314 - our own


def texts(picture):
    return [node.text or "" for node in picture.iter(f"{SVG}text")]


def test_a_chart_has_a_title_axes_a_legend_and_every_point(points):
    picture = drawn("Ardish crown", points)

    said = texts(picture)
    assert said[0] == "Ardish crown"
    assert "44.00 GBP (42.50 GBP to 45.50 GBP) by 7 prices sold, confidence 65 of 100" in said[1]
    assert "2026-08-01" in said
    assert "2026-08-10" in said
    assert "10,000.00 GBP" in said
    assert {"sold", "asked", "bid", "too far out"} <= set(said)
    assert len([one for one in picture.iter(f"{SVG}g") if one.find(f"{SVG}title") is not None]) == len(points)


def test_no_date_of_a_chart_is_cut(points):
    picture = drawn("Ardish crown", points)

    dates = [node for node in picture.iter(f"{SVG}text") if (node.text or "").startswith("2026-")]
    half = 10 * 8 / 2  # ten characters, none wider than eight units
    assert len(dates) == 5
    assert all(half <= float(node.get("x")) <= WIDTH - half for node in dates)


def test_a_chart_needs_nothing_from_elsewhere_and_fits_light_and_dark(points):
    written = chart("Ardish crown", points, valuate([one.priced for one in points]))

    assert "prefers-color-scheme: dark" in written
    assert all(word not in written for word in ("<script", "<image", "href", "url(", "@import"))
    assert written.count("http") == written.count("http://www.w3.org/2000/svg")


def test_what_a_shop_writes_cannot_become_markup():
    hostile = '</title><script>alert("x")</script>'

    picture = drawn(hostile, [point(1, 100, title=hostile)])

    assert list(picture.iter(f"{SVG}script")) == []
    assert texts(picture)[0].startswith("</title>")


@pytest.mark.parametrize("points", [[], [point(1, 100)], [point(1, 100), point(1, 100)]])
def test_a_chart_of_little_is_a_chart(points):
    assert drawn("Ardish crown", points).tag == f"{SVG}svg"


def test_points_are_exported_as_csv_that_no_spreadsheet_runs(points):
    rows = list(csv.DictReader(io.StringIO(points_csv([*points, point(11, 5, title="=1+1")]))))

    assert (rows[0]["amount"], rows[0]["currency"], rows[0]["day"]) == ("41.00", "GBP", "2026-08-01")
    assert rows[-1]["title"] == "'=1+1"
    assert len(rows) == len(points) + 1

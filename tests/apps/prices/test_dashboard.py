"""Prices in the dashboard: what an intake is worth and what this rests on, and how its sources are."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.apps.prices.scenes import World, listed
from tests.support.api import Served
from tests.support.application_pages import HOSTILE, notice, require_roles, require_same_absence, require_text_only
from tests.support.dashboard import Person, people


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with people(world.app) as served:
        yield served


@pytest.fixture
def acme(served: Served) -> Person:
    return Person(served).log_in("tenant", "acme")


@pytest.fixture
def crown(world: World) -> str:
    """An intake that was priced by a source."""
    world.page()
    intake = world.intake("Ardish crown", intake_id="crown")
    listings = [listed(id=str(number), amount=f"{40 + number}.00", url=f"https://shop.example/items/{number}")
                for number in range(6)]  # fmt: skip
    world.answer("odd", *listings, listed(id="7", amount="900.00", url="https://shop.example/items/7"))
    world.collect(intake)
    return intake.intake_id


def test_pages_open_for_who_may_read_and_are_there_as_json(served, crown):
    require_roles(served, ["/ui/prices", f"/ui/prices/intakes/{crown}"])


def test_an_empty_page_says_what_to_type(acme):
    text = acme.open("/ui/prices").text

    assert "haulwright price add" in text
    assert "haulwright price source NAME --rules FILE --tenant acme" in text


def test_an_intake_shows_its_valuation_with_the_points_that_it_rests_on(world, acme, crown):
    valued = world.prices.valuations.find("acme", crown)
    page = acme.open(f"/ui/prices/intakes/{crown}")
    rows = [" ".join(row.text().split()) for row in page.all("tr[data-row]")]

    assert "Worth42.50 GBP" in page.text
    assert f"{valued.valuation.confidence} of 100" in page.text
    assert sum("counts" in row and "does not" not in row for row in rows) == len(valued.valuation.points) == 6
    (outlier,) = [row for row in rows if "too far out" in row]
    assert "900.00 GBP" in outlier
    assert "42.50 GBP" in acme.open("/ui/prices").text


def test_the_chart_has_the_figures_of_the_table(acme, crown):
    page = acme.open(f"/ui/prices/intakes/{crown}")
    (figure,) = page.all("figure[data-chart]")
    chart = json.loads(str(figure.attributes["data-chart"]))

    assert chart == acme.open(f"/ui/prices/intakes/{crown}.json").answer.json()["chart"]
    values = {series["label"]: series["values"] for series in chart["series"]}
    assert sorted(values["sold"]) == [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 900.0]
    assert set(values["worth"]) == {42.5}
    assert all(len(series["values"]) == len(chart["days"]) for series in chart["series"])
    for script in page.all("script[src]"):
        assert acme.client.get(str(script.attributes["src"])).status_code == 200


def test_an_admin_finds_an_intake_among_those_of_all_tenants(world, served, crown):
    world.intake("Ardish crown", tenant="globex", intake_id=crown)
    admin = Person(served).log_in("admin")

    links = [str(link.attributes["href"]) for link in admin.open("/ui/prices").all("#intakes th a")]
    assert links == [f"/ui/prices/intakes/{crown}?tenant={tenant}" for tenant in ("acme", "globex")]
    assert "42.50 GBP" in admin.open(links[0]).text
    assert "Nothing was collected for it yet" in admin.open(links[1]).text
    assert "Intakes are each tenant's own" in admin.open(f"/ui/prices/intakes/{crown}").text


def test_what_is_anothers_looks_exactly_like_nothing(served, crown):
    require_same_absence(served, "/ui/prices/intakes/{}", crown, "absent")


def test_hostile_text_is_text(world, acme):
    world.page()
    intake = world.intake("Ardish crown <script>alert(1)</script>", intake_id="<b>crown</b>")
    world.answer("odd", listed(title=f"Ardish crown 1887 {HOSTILE}", url="javascript:alert(1)"))
    world.collect(intake)

    require_text_only(acme.open("/ui/prices"))
    page = acme.open("/ui/prices/intakes/%3Cb%3Ecrown%3C%2Fb%3E")
    require_text_only(page)


def test_prices_are_collected_and_sources_are_switched_from_the_page(world, served, acme, crown):
    page = acme.open(f"/ui/prices/intakes/{crown}")
    assert "1 jobs collect its prices" in notice(acme.submit(page, "/collect"))
    assert "0 jobs collect its prices; 1 were active already" in notice(acme.submit(page, "/collect"))

    assert "The source odd is left alone" in notice(acme.submit(acme.open("/ui/prices"), "/odd/switch"))

    assert not world.prices.sources.get("acme", "odd").enabled
    stranger = Person(served).log_in("tenant", "globex")
    stranger.send("/ui/prices/sources/odd/switch?tenant=acme", {"enabled": "true"})
    assert not world.prices.sources.get("acme", "odd").enabled

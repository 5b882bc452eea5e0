"""What comes from outside may be anything: each bad item is recorded with its reason, and the rest goes on."""

from __future__ import annotations

import json

import pytest

from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue
from tests.apps.prices.scenes import TENANT, WHO, html_rules, listed

ROBOT_PAGE = (
    "<html><head><title>Shop</title></head><body><h1>Are you a human?</h1><p>Please prove it.</p></body></html>"
)
PEOPLE = html_rules("https://shop.example", "shop", "GBP", ".")["listing"]


@pytest.fixture
def odd(world):
    world.page()
    return "odd"


def test_bad_items_are_kept_aside_with_their_reasons_and_the_good_ones_count(world, odd):
    intake = world.intake()
    good = [listed(id="g1", amount="40.00"), listed(id="g2", amount="44.00")]
    bad = [
        listed(id="b1", amount=""),
        listed(id="b2", amount="1.234"),
        listed(id="b3", currency="XXX"),
        listed(id="b4", title=None),
        listed(id="b5", title="crown " * 2_000_000),
        listed(id=None, url=None),
        listed(id="b7", status="who knows"),
        listed(id="b8", sold_at="2031-01-01"),
        listed(id="b9", amount="12 or 13"),
        "not even a listing",
    ]
    world.answer(odd, good[0], *bad, good[1])

    (job,) = world.collect(intake)

    assert job.state is State.SUCCEEDED
    assert sorted(one.minor for one in world.points(intake)) == [4000, 4400]
    kept = world.prices.points.quarantined(TENANT, intake.intake_id)
    assert [one["place"] for one in kept] == list(range(1, 11))
    assert all(one["reason"] and len(one["excerpt"]) <= 300 for one in kept)
    assert json.loads(job.result)["quarantined"] == 10


@pytest.mark.parametrize(
    "query",
    [{"title": "x" * 501}, {"title": "a\x00b"}, {"not a name": "x"}, {f"n{number}": "x" for number in range(40)}],
    ids=["long", "not printable", "no name", "many"],
)
def test_a_query_that_could_stand_in_no_address_is_refused_before_anything_is_written(world, query):
    world.source()
    intake = world.intake()

    with pytest.raises(InvalidValue, match="query"):
        world.prices.collect(WHO, intake.intake_id, query_params=query)

    assert world.rows("select count(*) from scrape_jobs") == [(0,)]


def test_the_next_collection_has_a_quarantine_of_its_own(world, odd):
    world.page(cache="1 s")
    intake = world.intake()
    world.answer(odd, listed(amount="on request"))
    world.collect(intake)
    assert len(world.reasons(intake)) == 1
    world.bench.advance("1 min")
    world.answer(odd, listed())

    world.collect(intake)

    assert world.reasons(intake) == []


def test_a_price_in_another_number_format_is_refused_and_not_guessed(world):
    world.prices.sources.put(TENANT, "kontor", html_rules(world.sandbox.url, "muenzkontor", "EUR", "."))
    intake = world.intake("Quillan ducat")

    world.collect(intake)

    assert world.points(intake) == []
    assert all("price:" in reason for reason in world.reasons(intake))
    assert world.valued(intake).valuation.centre is None


def test_a_check_for_robots_is_no_empty_listing_and_the_source_is_left_alone_for_a_while(world, odd):
    intake = world.intake()
    world.answer_text(odd, ROBOT_PAGE, headers={"Content-Type": "text/html"})
    world.answer(odd, listed())

    (job,) = world.collect(intake)
    assert (job.state, job.error_class) == (State.QUEUED, "RobotCheck")
    assert world.prices.valuations.find(TENANT, intake.intake_id) is None
    world.bench.advance("5 min")
    world.bench.drain()
    assert world.points(intake) == []
    world.bench.advance("11 min")
    world.bench.drain()

    assert world.bench.store.listing.get(job.id).state is State.SUCCEEDED
    assert len(world.points(intake)) == 1


def test_a_page_for_people_that_asks_for_a_person_is_no_empty_listing_either(world):
    world.page("people", listing=PEOPLE)
    world.answer_text("people", ROBOT_PAGE, headers={"Content-Type": "text/html"})

    (job,) = world.collect(world.intake())

    assert (job.state, job.error_class) == (State.QUEUED, "RobotCheck")


def test_an_empty_listing_is_a_result_and_says_that_the_page_may_have_changed(world, odd):
    intake = world.intake()
    world.answer(odd)

    (job,) = world.collect(intake)

    assert job.state is State.SUCCEEDED
    assert "may have changed" in json.loads(job.result)["notes"][0]
    assert (world.valued(intake).valuation.centre, world.valued(intake).version) == (None, 1)


def test_a_shop_that_writes_captcha_into_a_script_is_not_taken_for_a_check(world):
    world.page("people", listing=PEOPLE)
    script = "<script>var captcha = 'not a robot';</script><!-- captcha --><p>No coins today.</p>"
    world.answer_text("people", f"<html><body>{script}</body></html>", headers={"Content-Type": "text/html"})

    (job,) = world.collect(world.intake())

    assert job.state is State.SUCCEEDED


@pytest.mark.parametrize("body", ["<html>down for maintenance</html>", "{", "[" * 100_000, "\x00\x01\x02"])
def test_a_body_that_is_no_listing_at_all_is_a_dead_letter_and_writes_nothing(world, odd, body):
    intake = world.intake()
    world.answer_text(odd, body)

    (job,) = world.collect(intake)

    assert job.state is State.DEAD
    assert world.points(intake) == []
    assert world.prices.valuations.find(TENANT, intake.intake_id) is None


@pytest.mark.parametrize("body", ["<html>down for maintenance</html>", ROBOT_PAGE, json.dumps({"listings": []})])
def test_what_is_no_listing_is_not_kept_for_the_next_collection(world, odd, body):
    intake = world.intake()
    world.answer_text(odd, body, headers={"Content-Type": "text/html"})
    world.answer(odd, listed())
    (first,) = world.collect(intake)
    if first.state is State.QUEUED:
        world.app.operations().jobs.cancel(first.id)
        world.prices.sources.door(world.prices.sources.get(TENANT, odd)).gate.resume()

    (second,) = world.collect(intake)

    assert second.state is State.SUCCEEDED
    assert len(world.points(intake)) == 1


def test_a_dead_letter_that_is_requeued_asks_the_source_anew(world, odd):
    intake = world.intake()
    world.answer_text(odd, "<html>down for maintenance</html>")
    world.answer(odd, listed())
    (dead,) = world.collect(intake)

    world.app.operations().dead_letters.requeue(dead.id)
    world.bench.drain()

    assert (dead.state, len(world.points(intake))) == (State.DEAD, 1)


def test_what_is_kept_and_cannot_be_read_by_newer_rules_is_asked_for_anew(world, odd):
    intake = world.intake()
    world.answer(odd, listed())
    world.collect(intake)
    world.page(listing=PEOPLE | {"item": "li.item"})
    page = '<ul><li class="item"><a class="title" href="/2">Ardish crown</a><b class="price">£40.00</b></li></ul>'
    world.answer_text(odd, page, headers={"Content-Type": "text/html"})

    (job,) = world.collect(intake)

    assert job.state is State.SUCCEEDED
    assert sorted(one.minor for one in world.points(intake)) == [4000, 4200]


def test_a_listing_that_leads_back_to_itself_ends(world, odd):
    page = json.dumps({"listings": [listed()], "next": f"{world.sandbox.url}/shop/coinhall/page/odd?q=Ardish%20crown"})
    world.answer_text(odd, page, times=None)

    (job,) = world.collect(world.intake())

    assert (job.state, json.loads(job.result)["pages"]) == (State.SUCCEEDED, 1)


def test_a_listing_that_says_the_same_thing_twice_is_one_point(world, odd):
    intake = world.intake()
    world.answer(odd, listed(), listed())

    world.collect(intake)

    assert len(world.points(intake)) == 1


def test_characters_that_no_database_keeps_do_no_harm(world, odd):
    intake = world.intake()
    half = "\ud83d"
    world.answer(
        odd, listed(id="1", title=f"Ardish\0 crown{half} 1887"), listed(id=f"2{half}"), listed(id="3", amount="\0")
    )

    (job,) = world.collect(intake)

    assert job.state is State.SUCCEEDED
    assert [one.title for one in world.points(intake)] == ["Ardish crown 1887"]
    assert len(world.reasons(intake)) == 2

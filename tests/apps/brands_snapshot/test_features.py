"""What can be computed about a brand's items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright.apps.brands.evidence.bundle import bundle
from haulwright.apps.brands.snapshot.features import MEASURES, features
from haulwright.engine.payload import canonical
from tests.apps.brands_snapshot.scenes import DAY, NOW, an_item, examples, some_items


def measured(group, *items):
    return {one.subject: one for one in features(bundle(items), NOW).about(group)}


@examples
@given(some_items, st.randoms(use_true_random=False))
def test_the_same_items_in_any_order_give_the_same_report(items, luck):
    shuffled = luck.sample(items, len(items))

    assert features(bundle(shuffled), NOW) == features(bundle(items), NOW)


@examples
@given(some_items)
def test_every_fact_rests_on_items_that_exist_and_can_be_stored(items):
    report = features(bundle(items), NOW)

    known = {item.id for item in items}
    assert all(one.evidence and known.issuperset(one.evidence) for one in report.features)
    assert all(len(set(one.evidence)) == len(one.evidence) for one in report.features)
    assert canonical(report.document())


def test_nothing_is_known_about_nothing():
    assert features(bundle([]), NOW).document() == {group: [] for group in MEASURES}


def test_the_cadence_is_counted_from_dated_items():
    items = [an_item(str(days), published_at=NOW - days * DAY) for days in (0, 7, 14)]

    pace = measured("cadence", an_item("undated", published_at=None), *items)["instagram.post"]

    assert pace.value == {
        "items": 3,
        "per_week": 1.0,
        "median_gap_days": 7.0,
        "newest_age_days": 0.0,
        "usual_weekday": "Friday",
    }
    assert sorted(pace.evidence) == ["0", "14", "7"]


def test_one_item_has_no_pace():
    value = measured("cadence", an_item("1"))["instagram.post"].value

    assert (value["per_week"], value["median_gap_days"], value["newest_age_days"]) == (None, None, 1.0)


def test_formats_tell_share_media_and_length():
    items = [
        an_item("1", media=["a.jpg"], text="one two three"),
        an_item("2", text="one"),
        an_item("3", platform="web"),
    ]

    posts = measured("formats", *items)["instagram.post"]

    assert posts.value == {"items": 2, "share": 0.667, "with_media": 1, "median_words": 2.0}


def test_engagement_is_what_people_did_and_not_what_they_saw():
    items = [
        an_item("1", metrics={"likes": 8, "comments": 2, "views": 100}),
        an_item("2", metrics={"likes": 30}),
        an_item("3", metrics={}),
    ]

    value = measured("engagement", *items)["instagram.post"].value

    assert value == {
        "items": 2,
        "median_reactions": 20.0,
        "most_reactions": 30,
        "median_per_view": 0.1,
        "best": ["2", "1"],
    }


def test_a_topic_is_a_word_that_several_items_share():
    items = [
        an_item("1", text="Sourdough takes time"),
        an_item("2", title="SOURDOUGH takes"),
        an_item("3", text="Ryebread"),
    ]

    found = measured("topics", *items)

    assert found["sourdough"].value == {"items": 2, "share": 0.667}
    assert sorted(found["sourdough"].evidence) == ["1", "2"]
    assert "ryebread" not in found
    assert "takes" not in found


def test_addresses_tags_and_names_are_no_topics():
    texts = [f"{word} https://shop.example/bakery www.bakery.example #bakery @bakery Acme" for word in ("see", "and")]

    assert measured("topics", *(an_item(str(number), text=text) for number, text in enumerate(texts))) == {}


def test_what_stands_on_every_page_of_a_site_is_no_topic_of_the_site():
    pages = [an_item(f"w{number}", platform="web", text="Ovens. Imprint.") for number in range(5)]
    posts = [an_item(f"p{number}", text="Ovens!") for number in range(2)]

    found = measured("topics", *pages, *posts)

    assert "imprint" not in found
    assert sorted(found["ovens"].evidence) == ["p0", "p1"]
    assert "imprint" in measured("topics", *pages[:4])


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("Fresh today!", "exclaims"),
        ("Hungry?", "asks"),
        ("Bread \U0001f35e", "uses emoji"),
        ("Our oven", "says we"),
        ("Unsere Öfen", "says we"),
        ("Just for you", "says you"),
        ("FRESH from the OVEN", "shouts"),
        ("Order now", "calls to act"),
    ],
)
def test_a_habit_of_the_voice_is_seen_in_the_text(text, habit):
    habits = measured("tone", an_item("1", text=text), an_item("2", text="Rye and salt."))

    assert habits[habit].evidence == ("1",)
    assert habits[habit].value == {"items": 1, "share": 0.5}


def test_tags_are_one_whatever_their_case_and_sign():
    found = measured("hashtags", an_item("1", hashtags=["#Bread", "bread", "#"]), an_item("2", hashtags=["BREAD"]))

    assert {tag: one.value["items"] for tag, one in found.items()} == {"bread": 2}


def test_links_are_counted_by_their_host():
    item = an_item("1", links=["https://www.acme.example/a", "https://acme.example/b", "http://[", "no address"])

    assert set(measured("links", item)) == {"acme.example"}


def test_of_a_giant_text_only_the_beginning_is_read():
    giant = "x " * 1_000_000 + "!"

    assert "exclaims" not in measured("tone", an_item("1", text=giant))

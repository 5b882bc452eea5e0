"""Which items a compile rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright.apps.brands.evidence.bundle import BundleCaps, bundle
from haulwright.errors import InvalidValue
from tests.apps.brands_snapshot.scenes import DAY, NOW, an_item, examples, some_caps, some_items


@examples
@given(some_items, some_caps, st.randoms(use_true_random=False))
def test_the_same_items_in_any_order_make_the_same_bundle(items, caps, luck):
    shuffled = luck.sample(items, len(items))

    assert bundle(shuffled, caps) == bundle(items, caps)


@pytest.mark.proves("CP-04", "CP-05")
@examples
@given(some_items, some_caps)
def test_no_cap_is_ever_exceeded_and_no_room_is_wasted(items, caps):
    taken = [item.kind for item in bundle(items, caps).items]

    of_kind = {kind: min(caps.for_kind(kind), sum(item.kind == kind for item in items)) for kind in set(taken)}
    assert all(taken.count(kind) <= most for kind, most in of_kind.items())
    room = sum(min(caps.for_kind(kind), sum(one.kind == kind for one in items)) for kind in {one.kind for one in items})
    assert len(taken) == min(caps.in_all, room)


@examples
@given(some_items, some_caps)
def test_every_item_is_there_once_and_says_why(items, caps):
    chosen = bundle(items, caps).chosen

    assert len({one.item.id for one in chosen}) == len(chosen)
    assert all(one.item in items and one.item.kind in one.why for one in chosen)


def test_the_newest_and_the_most_moving_take_turns():
    old_but_loved = an_item("loved", published_at=NOW - 90 * DAY, metrics={"likes": 900})
    items = [old_but_loved, *(an_item(str(age), published_at=NOW - age * DAY) for age in range(1, 6))]

    made = bundle(items, BundleCaps(per_kind=3))

    assert [(one.item.id, one.order) for one in made.chosen] == [
        ("1", "newest"),
        ("loved", "most reactions"),
        ("2", "newest"),
    ]


def test_an_undated_item_is_the_oldest_of_all():
    made = bundle([an_item("undated", published_at=None), an_item("dated", published_at=1)], BundleCaps(per_kind=1))

    assert [item.id for item in made.items] == ["dated"]


def test_being_seen_is_no_reaction():
    seen, loved = an_item("a", metrics={"views": 10_000}), an_item("b", metrics={"likes": 1})

    made = bundle([seen, loved], BundleCaps(per_kind=2))

    assert next(one.item.id for one in made.chosen if one.order == "most reactions") == "b"


@pytest.mark.proves("CP-05")
def test_a_loud_platform_does_not_crowd_out_a_quiet_one():
    loud = [an_item(str(number), metrics={"likes": 1_000}) for number in range(50)]
    quiet = [an_item(f"w{number}", platform="web", content_type="page") for number in range(2)]

    made = bundle([*loud, *quiet], BundleCaps(in_all=4))

    assert sorted(item.platform for item in made.items) == ["instagram", "instagram", "web", "web"]


@pytest.mark.proves("CP-04")
def test_a_kind_may_have_a_cap_of_its_own():
    items = [an_item(str(number)) for number in range(5)] + [an_item("r", content_type="reel")]

    made = bundle(items, BundleCaps(of_kind={"instagram.post": 2}))

    assert made.criteria["kinds"] == {
        "instagram.post": {"found": 5, "taken": 2, "cap": 2},
        "instagram.reel": {"found": 1, "taken": 1, "cap": 40},
    }


def test_the_digest_follows_what_items_say_and_not_the_run_that_saw_them():
    one = an_item("1")

    assert bundle([one]).digest == bundle([replace(one, run_id="r2")]).digest
    assert bundle([one]).digest != bundle([replace(one, text="We sell shoes.")]).digest
    assert bundle([one]).digest != bundle([one], BundleCaps(in_all=9)).digest


@pytest.mark.parametrize("caps", [{"per_kind": -1}, {"in_all": True}, {"of_kind": {"web.page": 1.5}}])
def test_a_cap_that_makes_no_sense_is_refused(caps):
    with pytest.raises(InvalidValue, match="whole number from 0"):
        BundleCaps(**caps)


def test_what_is_kept_of_a_bundle_names_its_items_and_why():
    made = bundle([an_item("1")])

    assert made.document()["chosen"] == [{"id": "1", "why": "newest, place 1 of instagram.post"}]

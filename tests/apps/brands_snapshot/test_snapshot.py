"""The snapshot: everything said, down to the items it was said from."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given

from haulwright.apps.brands.evidence.status import evidence_status
from haulwright.apps.brands.snapshot.compilers import ExtractiveCompiler, SnapshotDraft, Statement
from haulwright.apps.brands.snapshot.document import SnapshotRequest, snapshot
from haulwright.errors import InvalidPayload
from tests.apps.brands_snapshot.scenes import an_item, an_order, an_outcome, examples, some_items

STATUS = evidence_status([an_outcome("skipped")])


def shot(order, draft=None, asked=None):
    draft = draft or asyncio.run(ExtractiveCompiler().acompile(order))
    return snapshot(draft, order.bundle, order.features, STATUS, asked or SnapshotRequest())


@pytest.mark.proves("CO-03")
@examples
@given(some_items)
def test_every_statement_can_be_followed_to_its_items(items):
    made = shot(an_order(*items))

    cited = {one for said in made["sections"].values() for statement in said for one in statement["evidence"]}
    assert cited <= made["evidence"].keys()
    assert all(made["evidence"][item.id]["run_id"] == item.run_id for item in items if item.id in made["evidence"])
    assert json.loads(json.dumps(made)) == made


def test_an_item_can_be_found_again_on_its_platform_and_in_our_tables():
    made = shot(an_order(an_item("1", text="We bake bread. " * 100)))["evidence"]["1"]

    assert (made["source"], made["url"]) == ("instagram.posts", "https://instagram.example/p/1")
    assert (made["external_id"], made["connection_id"], made["run_id"]) == ("x1", "c1", "r1")
    assert (len(made["excerpt"]), made["why"]) == (280, "newest, place 1 of instagram.post")


@pytest.mark.proves("CO-02")
def test_what_was_asked_for_and_what_ran_stand_side_by_side():
    made = shot(an_order(an_item("1")), asked=SnapshotRequest(model="gpt-4", prompt_version="v1", force_refresh=True))

    assert made["asked"] == {"model": "gpt-4", "prompt_version": "v1", "force_refresh": True}
    assert (made["ran"]["compiler"], made["ran"]["model"]) == ("extractive", None)


def test_the_same_compile_makes_the_same_snapshot():
    order = an_order(an_item("1"), an_item("2", text="Rye."))

    assert shot(order) == shot(order)
    assert shot(order)["digest"] != shot(replace(order, answers={"what_we_do": "We sell shoes."}))["digest"]


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (Statement("themes", "bread", "Bread."), "rests on nothing"),
        (Statement("themes", "bread", "Bread.", ("gone",)), "cites gone, which is not in the bundle"),
        (Statement("weather", "sun", "Sun.", ("1",)), "section 'weather'"),
    ],
)
def test_a_statement_that_rests_on_nothing_is_refused(statement, why):
    with pytest.raises(InvalidPayload, match=why):
        shot(an_order(an_item("1")), SnapshotDraft("someone", (statement,)))


def test_the_evidence_status_is_part_of_it():
    assert shot(an_order())["evidence_status"] == STATUS

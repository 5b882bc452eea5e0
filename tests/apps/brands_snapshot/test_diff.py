"""What changed between two snapshots."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from haulwright.apps.brands.snapshot.compilers import SnapshotDraft, Statement
from haulwright.apps.brands.snapshot.diff import diff
from tests.apps.brands_snapshot.scenes import an_item, an_order, examples, some_items
from tests.apps.brands_snapshot.test_snapshot import shot

ONE = an_order(an_item("1"))
BREAD = Statement("themes", "bread", "Bakes bread.", ("1",))
RYE = Statement("themes", "rye", "Likes rye.", ("1",))


def drafted(*statements, **said):
    return shot(ONE, SnapshotDraft("someone", statements, **said))


@examples
@given(some_items, some_items)
def test_what_is_added_one_way_is_removed_the_other_way(some, others):
    old, new = shot(an_order(*some)), shot(an_order(*others))

    there, back = diff(old, new), diff(new, old)

    assert diff(old, old).empty
    assert there.evidence_added == back.evidence_removed
    assert {(one.section, one.subject, one.old, one.new) for one in there.statements} == {
        (one.section, one.subject, one.new, one.old) for one in back.statements
    }


def test_a_statement_is_added_removed_or_changed():
    louder = replace(BREAD, text="Bakes bread all day.")

    changes = diff(drafted(BREAD), drafted(louder, RYE)).statements

    assert [(one.kind, one.subject, one.old, one.new) for one in changes] == [
        ("changed", "bread", "Bakes bread.", "Bakes bread all day."),
        ("added", "rye", None, "Likes rye."),
    ]
    assert [one.kind for one in diff(drafted(BREAD, RYE), drafted(BREAD)).statements] == ["removed"]


def test_two_statements_about_one_subject_are_kept_apart():
    more = replace(BREAD, text="Sells bread.")

    (change,) = diff(drafted(BREAD), drafted(BREAD, more)).statements

    assert (change.kind, change.new) == ("added", "Sells bread.")


def test_another_model_is_a_change_even_where_it_says_the_same():
    found = diff(drafted(BREAD), drafted(BREAD, model="large"))

    assert found.ran == {"model": (None, "large")}
    assert found.document()["ran"] == {"model": {"old": None, "new": "large"}}
    assert not found.empty


def test_items_that_came_and_went_are_named():
    found = diff(shot(an_order(an_item("1"))), shot(an_order(an_item("2"))))

    assert found.document()["evidence"] == {"added": ["2"], "removed": ["1"]}

from __future__ import annotations

import pytest

from haulwright.engine.stages import StageMachine
from haulwright.errors import IllegalStage, InvalidValue


def machine(moves, *, start="A", final=("Z",), failed=None):
    return StageMachine("example", start, moves, final, failed)


def moves_of(stages):
    return {(frm, to) for frm in stages.stages for to in stages.stages if stages.allows(frm, to)}


EXAMPLE = machine({"A": ["B"], "B": ["C", "Z"], "C": ["Y", "Z"]}, final=["Y", "Z"], failed="F")


@pytest.mark.proves("SM-03")
def test_a_move_that_is_not_in_the_machine_raises_a_runtime_error():
    with pytest.raises(IllegalStage, match="'example' has no move from A to Z") as refusal:
        EXAMPLE.check("A", "Z")
    assert isinstance(refusal.value, RuntimeError)
    EXAMPLE.check("A", "B")


@pytest.mark.parametrize("stage", ["X", "", "a"])
def test_a_stage_that_the_machine_does_not_know_has_no_moves(stage):
    assert not EXAMPLE.allows(stage, "B")
    assert not EXAMPLE.allows(stage, "F")
    assert not EXAMPLE.allows("A", stage)
    assert not EXAMPLE.reached(stage, "A")
    with pytest.raises(InvalidValue, match="is no stage"):
        EXAMPLE.rank(stage)


def test_a_stage_is_past_all_that_lies_behind_it_and_nothing_else():
    assert [stage for stage in EXAMPLE.stages if EXAMPLE.reached("C", stage)] == ["A", "B", "C"]
    assert EXAMPLE.reached("Y", "C")
    assert not EXAMPLE.reached("Y", "Z")


def test_a_failed_object_is_past_nothing():
    assert [stage for stage in EXAMPLE.stages if EXAMPLE.reached("F", stage)] == ["F"]


def test_stages_are_listed_in_the_order_of_progress():
    assert EXAMPLE.stages == ("A", "B", "C", "Y", "Z", "F")


@pytest.mark.proves("SM-02", "SM-09")
@pytest.mark.parametrize(
    ("moves", "options", "why"),
    [
        ({"A": ["B"], "B": ["A", "Z"]}, {}, "circle"),
        ({"A": ["A", "Z"]}, {}, "circle"),
        ({"A": ["B", "Z"], "B": []}, {}, "leads nowhere"),
        ({"A": ["B", "Z"], "B": ["F"]}, {"failed": "F"}, "leads nowhere"),
        ({"A": ["B", "Z"]}, {}, "'B' follows A but is neither final nor has moves"),
        ({"A": ["Z"], "Z": ["Y"]}, {"final": ["Z", "Y"]}, "'Z' is final and has moves"),
        ({"A": ["Z"], "F": ["Z"]}, {"failed": "F"}, "'F' is final and has moves"),
        ({"A": ["Z"], "B": ["Z"]}, {}, "'B' cannot be reached from A"),
        ({"A": ["Z"]}, {"final": ["Z", "Y"]}, "'Y' cannot be reached from A"),
        ({"A": ["Z"]}, {"start": "B"}, "'B' is the start and has no moves"),
        ({"A": ["Z"]}, {"start": "Z"}, "'Z' is the start and has no moves"),
        ({}, {}, "'A' is the start and has no moves"),
        ({"A": ["Z", "two words"]}, {}, "'two words' is not a name"),
        ({"A": ["Z"]}, {"failed": ""}, "'' is not a name"),
        ({"A": ["Z", 7]}, {}, "7 is not a name"),
    ],
)
def test_a_machine_that_could_turn_back_or_get_stuck_is_refused_when_declared(moves, options, why):
    with pytest.raises(InvalidValue, match=why):
        machine(moves, **options)


def test_without_a_failed_stage_only_the_declared_moves_exist():
    small = machine({"A": ["B"], "B": ["Z"]})
    assert moves_of(small) == {("A", "B"), ("B", "Z")}
    assert [small.rank(stage) for stage in ("A", "B", "Z")] == [0, 1, 2]


def test_a_machine_cannot_be_changed_through_what_it_was_made_of():
    moves = {"A": {"Z"}}
    small = machine(moves)
    moves["A"].add("A")
    with pytest.raises(TypeError):
        small.moves["Z"] = {"A"}
    assert moves_of(small) == {("A", "Z")}

from __future__ import annotations

import pytest

from haulwright.engine.stages import DOCUMENTS, StageMachine
from haulwright.errors import IllegalStage, InvalidValue

FORWARD = ["PLANNED", "HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED"]
FINAL = {"INDEXED", "DEDUPED", "SKIPPED_DUPLICATE", "FAILED"}


def machine(moves, *, start="A", final=("Z",), failed=None):
    return StageMachine("example", start, moves, final, failed)


def moves_of(stages):
    return {(frm, to) for frm in stages.stages for to in stages.stages if stages.allows(frm, to)}


@pytest.mark.proves("SM-01")
def test_the_stages_of_a_document_are_those_of_its_paper_without_the_lease():
    assert set(DOCUMENTS.stages) == {*FORWARD, *FINAL}
    assert DOCUMENTS.start == "PLANNED"


@pytest.mark.proves("SM-03", "SM-05", "SM-06", "SM-07", "SM-08")
def test_a_document_has_these_moves_and_no_others():
    ways = {("PLANNED", "HEAD_DONE"), ("HEAD_DONE", "RESUME_OK"), ("HEAD_DONE", "STREAMING")}
    ways |= {("RESUME_OK", "STREAMING"), ("STREAMING", "FINALIZED"), ("FINALIZED", "INDEXED"), ("FINALIZED", "DEDUPED")}
    ends = {(stage, end) for stage in FORWARD for end in ("FAILED", "SKIPPED_DUPLICATE")}
    assert moves_of(DOCUMENTS) == ways | ends


@pytest.mark.proves("SM-03")
def test_a_move_that_is_not_in_the_machine_raises_a_runtime_error():
    with pytest.raises(IllegalStage, match="'documents' has no move from PLANNED to STREAMING") as refusal:
        DOCUMENTS.check("PLANNED", "STREAMING")
    assert isinstance(refusal.value, RuntimeError)
    DOCUMENTS.check("PLANNED", "HEAD_DONE")


@pytest.mark.proves("SM-02")
def test_no_move_leads_back_or_stays():
    assert all(DOCUMENTS.rank(frm) < DOCUMENTS.rank(to) for frm, to in moves_of(DOCUMENTS))


@pytest.mark.proves("SM-09")
def test_every_path_of_a_document_ends_in_a_final_stage():
    assert {stage for stage in DOCUMENTS.stages if DOCUMENTS.is_final(stage)} == FINAL
    leaving = {frm for frm, _ in moves_of(DOCUMENTS)}
    assert leaving == set(DOCUMENTS.stages) - FINAL


@pytest.mark.parametrize("stage", ["LEASED", "", "planned"])
def test_a_stage_that_the_machine_does_not_know_has_no_moves(stage):
    assert not DOCUMENTS.allows(stage, "HEAD_DONE")
    assert not DOCUMENTS.allows(stage, "FAILED")
    assert not DOCUMENTS.allows("PLANNED", stage)
    assert not DOCUMENTS.reached(stage, "PLANNED")
    with pytest.raises(InvalidValue, match="is no stage"):
        DOCUMENTS.rank(stage)


def test_a_resumed_document_is_past_all_that_lies_behind_it_and_nothing_else():
    past = {stage for stage in DOCUMENTS.stages if DOCUMENTS.reached("STREAMING", stage)}
    assert past == {"PLANNED", "HEAD_DONE", "RESUME_OK", "STREAMING"}
    assert DOCUMENTS.reached("INDEXED", "FINALIZED")
    assert not DOCUMENTS.reached("INDEXED", "DEDUPED")


def test_a_failed_document_is_past_nothing():
    assert {stage for stage in DOCUMENTS.stages if DOCUMENTS.reached("FAILED", stage)} == {"FAILED"}


def test_stages_are_listed_in_the_order_of_progress():
    assert DOCUMENTS.stages[:5] == tuple(FORWARD)
    assert DOCUMENTS.stages[-1] == "FAILED"


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

"""The stages of a document are those of its paper, and lead forward only."""

from __future__ import annotations

import pytest

from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.errors import IllegalStage

FORWARD = ["PLANNED", "HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED"]
FINAL = {"INDEXED", "DEDUPED", "SKIPPED_DUPLICATE", "FAILED"}


def moves_of(stages):
    return {(frm, to) for frm in stages.stages for to in stages.stages if stages.allows(frm, to)}


@pytest.mark.proves("SM-01")
def test_the_stages_of_a_document_are_those_of_its_paper_without_the_lease():
    assert set(DOCUMENT_STAGES.stages) == {*FORWARD, *FINAL}
    assert DOCUMENT_STAGES.start == "PLANNED"


@pytest.mark.proves("SM-03", "SM-05", "SM-06", "SM-07", "SM-08")
def test_a_document_has_these_moves_and_no_others():
    ways = {("PLANNED", "HEAD_DONE"), ("HEAD_DONE", "RESUME_OK"), ("HEAD_DONE", "STREAMING")}
    ways |= {("RESUME_OK", "STREAMING"), ("STREAMING", "FINALIZED"), ("FINALIZED", "INDEXED"), ("FINALIZED", "DEDUPED")}
    ends = {(stage, end) for stage in FORWARD for end in ("FAILED", "SKIPPED_DUPLICATE")}
    assert moves_of(DOCUMENT_STAGES) == ways | ends


@pytest.mark.proves("SM-03")
def test_a_move_that_is_not_in_the_machine_raises_a_runtime_error():
    with pytest.raises(IllegalStage, match="'documents' has no move from PLANNED to STREAMING") as refusal:
        DOCUMENT_STAGES.check("PLANNED", "STREAMING")
    assert isinstance(refusal.value, RuntimeError)
    DOCUMENT_STAGES.check("PLANNED", "HEAD_DONE")


@pytest.mark.proves("SM-02")
def test_no_move_leads_back_or_stays():
    assert all(DOCUMENT_STAGES.rank(frm) < DOCUMENT_STAGES.rank(to) for frm, to in moves_of(DOCUMENT_STAGES))


@pytest.mark.proves("SM-02", "SM-03")
def test_several_moves_at_once_lead_forward_on_the_same_ways():
    at_once = DOCUMENT_STAGES.in_one_step()

    assert moves_of(at_once) > moves_of(DOCUMENT_STAGES)
    assert all(at_once.rank(frm) < at_once.rank(to) for frm, to in moves_of(at_once))
    assert ("PLANNED", "INDEXED") in moves_of(at_once)
    assert not at_once.allows("INDEXED", "DEDUPED")
    assert at_once.stages == DOCUMENT_STAGES.stages


@pytest.mark.proves("SM-09")
def test_every_path_of_a_document_ends_in_a_final_stage():
    assert {stage for stage in DOCUMENT_STAGES.stages if DOCUMENT_STAGES.is_final(stage)} == FINAL
    leaving = {frm for frm, _ in moves_of(DOCUMENT_STAGES)}
    assert leaving == set(DOCUMENT_STAGES.stages) - FINAL


def test_a_resumed_document_is_past_all_that_lies_behind_it_and_nothing_else():
    past = {stage for stage in DOCUMENT_STAGES.stages if DOCUMENT_STAGES.reached("STREAMING", stage)}
    assert past == {"PLANNED", "HEAD_DONE", "RESUME_OK", "STREAMING"}
    assert DOCUMENT_STAGES.reached("INDEXED", "FINALIZED")
    assert not DOCUMENT_STAGES.reached("INDEXED", "DEDUPED")


def test_a_failed_document_is_past_nothing():
    assert {stage for stage in DOCUMENT_STAGES.stages if DOCUMENT_STAGES.reached("FAILED", stage)} == {"FAILED"}


def test_stages_are_listed_in_the_order_of_progress():
    assert DOCUMENT_STAGES.stages[:5] == tuple(FORWARD)
    assert DOCUMENT_STAGES.stages[-1] == "FAILED"

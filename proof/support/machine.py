"""The stages that the proofs move through."""

from __future__ import annotations

from haulwright import StageMachine

MACHINE = StageMachine("proof", start="PLANNED", moves={"PLANNED": {"FETCHED"}, "FETCHED": {"SAVED"}}, final={"SAVED"})

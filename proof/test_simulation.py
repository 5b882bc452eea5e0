"""Simulation: thousands of seeds of everything going wrong at once, and nothing becoming wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from proof.simulation.__main__ import failure
from proof.simulation.campaign import run_seed
from proof.simulation.tally import Tally
from proof.support.site import ROOT

SEEDS = 2_000
PROCESSES = 2


@pytest.mark.proves("GU-01", "GU-02", "GU-03", "GU-04")
def test_simulation_of_two_thousand_seeds_breaks_no_invariant(report: list[str]):
    tally, failures, began = Tally(), [], time.monotonic()
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as processes:
        for outcome in processes.map(run_seed, range(SEEDS), chunksize=20):
            tally.add(outcome)
            failures += [failure(outcome)] if outcome.wrong else []

    report += tally.report(time.monotonic() - began).splitlines()
    assert failures == []
    assert tally.never == [], "a campaign in which the rare things did not happen proves nothing"


@pytest.mark.parametrize("seed", [7, 1234])
def test_simulation_of_a_seed_is_the_same_in_every_process(seed):
    asked = f"from proof.simulation.campaign import run_seed; print(run_seed({seed}).digest)"
    answers = {
        subprocess.run(
            [sys.executable, "-c", asked],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }

    assert answers == {run_seed(seed).digest + "\n"}

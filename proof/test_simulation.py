"""Simulation: many thousand histories of everything going wrong at once, and nothing becoming wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from proof.simulation.campaign import run_seed
from proof.simulation.shards import Progress, run_shard
from proof.simulation.tally import RARE_STATES, STATES, Tally
from proof.support.site import ROOT

HISTORIES = int(os.environ.get("SIMULATION_HISTORIES", "20000"))
STATE_FOLDER = os.environ.get("SIMULATION_STATE")
"""Where the shards keep their progress, so that a campaign that was stopped goes on."""
PROCESSES = 2


@pytest.mark.proves("GU-01", "GU-02", "GU-03", "GU-04")
def test_simulation_of_many_thousand_histories_breaks_no_invariant(report: list[str]):
    began = time.monotonic()
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as processes:
        shards = list(processes.map(partial(_shard, HISTORIES // PROCESSES), range(1, PROCESSES + 1)))
    tally = Tally()
    for shard in shards:
        tally.merge(shard.tally())

    report += tally.report(time.monotonic() - began).splitlines()
    assert tally.failed == []
    assert tally.never((*STATES, *RARE_STATES)) == [], "a campaign that did not reach the rare states proves nothing"


def _shard(count: int, number: int) -> Progress:
    path = Path(STATE_FOLDER) / f"simulation-{number}-of-{PROCESSES}.json" if STATE_FOLDER else None
    return run_shard(f"{number}/{PROCESSES}", count, path)


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

"""The simulation at small size: some hundred histories, and every seed that ever failed."""

from __future__ import annotations

import pytest

from proof.simulation.campaign import Outcome, run_seed
from proof.simulation.failed import FAILED
from proof.simulation.guards import ELSEWHERE
from proof.simulation.judge import CHECKS
from proof.simulation.page import CAMPAIGN, PAGE, page
from proof.simulation.shards import Progress, failure, run_shard
from proof.simulation.tally import Tally
from tools.mutants import read_trials

SEEDS = 300
pytestmark = pytest.mark.xdist_group("simulation")  # one process has all histories, and knows what they reached


@pytest.fixture(scope="module")
def outcome_of():
    """The outcome of a seed; each is run once."""
    outcomes: dict[int, Outcome] = {}

    def run(seed: int) -> Outcome:
        if seed not in outcomes:
            outcomes[seed] = run_seed(seed)
        return outcomes[seed]

    return run


@pytest.mark.proves("GU-01", "GU-02", "GU-03", "GU-04")
@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_simulated_faults_break_no_invariant(outcome_of, first):
    outcomes = [outcome_of(seed) for seed in range(first, first + 50)]

    assert [failure(outcome) for outcome in outcomes if outcome.wrong] == []


def test_simulated_histories_reach_every_state_that_is_worth_reaching(outcome_of):
    """A campaign in which the rare things did not happen proves nothing."""
    tally = Tally()
    for seed in range(SEEDS):
        tally.add(outcome_of(seed))

    assert tally.never() == []


@pytest.mark.parametrize("seed", FAILED, ids=lambda seed: f"seed {seed}: {FAILED[seed]}")
def test_simulated_seeds_that_once_failed_hold(outcome_of, seed):
    assert outcome_of(seed).wrong == []


def test_simulated_seeds_that_failed_in_the_recorded_campaign_are_kept():
    assert set(Progress.load(CAMPAIGN).failed) - FAILED.keys() == set()


@pytest.mark.parametrize("seed", [3, 11, 42])
def test_simulated_histories_are_the_same_on_a_file_that_each_process_opens_for_itself(outcome_of, seed):
    assert run_seed(seed, on_disk=True).digest == outcome_of(seed).digest


def test_simulated_shards_go_on_where_they_stopped(tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    run_shard("2/3", 4, whole)

    run_shard("2/3", 1, stopped)
    run_shard("2/3", 4, stopped)

    kept = [Progress.read(path, "2/3") for path in (whole, stopped)]
    assert [(one.done, one.next_seed, one.calls, one.seen) for one in kept] == [
        (4, 13, kept[0].calls, kept[0].seen)
    ] * 2
    with pytest.raises(SystemExit, match="not of 1/3"):
        run_shard("1/3", 4, stopped)


def test_simulated_checks_have_a_name_and_a_promise_of_their_own():
    names = [check.name for check in CHECKS]

    assert len(set(names)) == len(names)
    assert all(check.promise.endswith(".") for check in CHECKS)


def test_the_page_of_the_simulation_follows_from_its_checks_its_campaign_and_its_guards():
    assert page() == PAGE.read_text("utf-8"), "write it with: python -m proof.simulation --page"


def test_guards_that_no_history_can_miss_are_guards_of_the_lists():
    assert ELSEWHERE.keys() - {trial.guard for trial in read_trials()} == set()

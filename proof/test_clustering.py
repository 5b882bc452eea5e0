"""Clustering: how well events are found in labelled news of which nothing was learned."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import mean, stdev

import pytest

from proof.clustering.labelled import VARIABLE, folds, read_labelled
from proof.clustering.learning import learn_join_at, learn_weights, score

FOLDS = 5
SEEDS = (1, 2, 3)


@pytest.fixture
def labelled():
    path = os.environ.get(VARIABLE)
    if not path:
        pytest.skip(f"{VARIABLE} does not name a file of labelled news")
    return read_labelled(Path(path))


def test_events_are_found_in_news_of_which_nothing_was_learned(labelled, report: list[str]):
    found = []
    for seed in SEEDS:
        for number, (learned_from, scored) in enumerate(folds(labelled, FOLDS, seed), 1):
            join_at = learn_join_at(learned_from, seed)
            one = score(scored, learn_weights(learned_from), join_at)
            found.append(one)
            figures = f"precision {one.precision:.3f}, recall {one.recall:.3f}, F1 {one.f1:.3f}"
            report.append(f"seed {seed}, fold {number}: {figures}, joined at {join_at:.2f}")

    f1 = [one.f1 for one in found]
    precision, recall = mean(one.precision for one in found), mean(one.recall for one in found)
    report.append(f"mean: precision {precision:.3f}, recall {recall:.3f}, F1 {mean(f1):.3f} +- {stdev(f1):.3f}")
    assert mean(f1) >= 0.88


def test_what_is_scored_was_never_learned_from(labelled):
    for learned_from, scored in folds(labelled, FOLDS, seed=1):
        assert {one.subject for one in learned_from}.isdisjoint(one.subject for one in scored)
        assert len(learned_from) + len(scored) == len(labelled)

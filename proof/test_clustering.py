"""Clustering: how well events are found in labelled streams, with settings that never saw what is scored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proof.clustering.labelled import VARIABLE, parted, read_streams
from proof.clustering.selection import FOLDS, cross_validate

SEED = 1
LEAST = {"news-events-dev": 0.90, "headlines-dev": 0.72, "headlines-single-theme-dev": 0.60}
"""The F1 of the streams that this is measured by; others are reported."""


@pytest.fixture
def streams():
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} does not name a folder of labelled streams")
    return read_streams(Path(folder))


def test_events_are_found_in_all_streams_with_one_setting_that_never_saw_them(streams, report: list[str]):
    scores = cross_validate(streams, SEED, report.append)

    missed = {name: one.f1 for name, one in scores.items() if one.f1 < LEAST.get(name, 0.0)}
    assert missed == {}


def test_what_is_scored_was_never_seen_by_the_choice(streams):
    for labelled in streams.values():
        folds = parted(labelled, FOLDS, SEED)
        subjects = [
            {one.subject for one, at in zip(labelled, folds, strict=True) if at == fold} for fold in range(FOLDS)
        ]
        assert sum(map(len, subjects)) == len({one.subject for one in labelled})

"""The soak sees what grows, and does not take noise for growth."""

from __future__ import annotations

import os

import pytest

from proof.faults.server import linux
from proof.soak.gauges import TOLERANCES, Trend, figures_of

SECONDS = [18.0 * number for number in range(140)]


def trend(gauge: str, figures: list[float]) -> Trend:
    return Trend(gauge, "worker", figures, SECONDS)


@pytest.mark.parametrize(("gauge", "base", "leak"), [("memory MiB", 60, 10), ("handles", 20, 5), ("threads", 12, 4)])
def test_what_grows_through_the_whole_soak_is_not_flat(gauge, base, leak):
    growing = [base + leak * second / SECONDS[-1] for second in SECONDS]

    assert not trend(gauge, growing).is_flat
    assert trend(gauge, growing).growth == pytest.approx(leak)


def test_what_comes_and_goes_is_flat():
    assert trend("handles", [18.0 + number % 7 for number in range(140)]).is_flat
    assert trend("memory MiB", [60.0 + 3 * (number % 2) for number in range(140)]).is_flat


@linux
def test_every_figure_of_a_process_has_a_tolerance():
    figures = figures_of(os.getpid())

    assert figures["memory MiB"] > 1
    assert figures.keys() <= TOLERANCES.keys()

"""Prices: what intakes are worth, by price points from governed sources, with one valuation for each."""

from __future__ import annotations

from penstock.apps.prices.application import Prices
from penstock.apps.prices.intakes import NewIntake
from penstock.client.app import Penstock

__all__ = ["NewIntake", "Prices", "install"]


def install(app: Penstock) -> Prices:
    """Put prices on an app: its task and its tables. Nothing is opened yet."""
    return Prices.on(app)

"""Prices: what intakes are worth, by price points from governed sources, with one valuation for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright import ApplicationSpec
from haulwright.discovery import lazy_names

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.prices.application import Prices
    from haulwright.apps.prices.intakes import NewIntake

__all__ = ["SPEC", "NewIntake", "Prices", "install"]

SPEC = ApplicationSpec(
    name="prices",
    package=__name__,
    summary="Prices: what intakes are worth, by price points from governed sources.",
    command="price",
    commands=f"{__name__}.cli",
    routes=f"{__name__}.routes",
    pages=f"{__name__}.dashboard",
    settings=f"{__name__}.settings",
    demo=f"{__name__}.demo",
    extra="apps",
    events=(
        "intake.added",
        "source.configured",
        "source.enabled",
        "valuation.changed",
    ),
)
__getattr__ = lazy_names(__name__, {"Prices": "application", "NewIntake": "intakes"})


def install(app: Haulwright) -> Prices:
    """Put prices on an app: its task and its tables. Nothing is opened yet."""
    from haulwright.apps.prices.application import Prices  # noqa: PLC0415 - the spec above must stay light

    return Prices.on(app)

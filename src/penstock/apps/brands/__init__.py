"""Brands: the snapshot of a brand, compiled from what its sources say; each paid run is bought once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.client.app import Penstock


def install(app: Penstock) -> Brands:
    """Put brands on an app: its tables, its tasks and its source."""
    from penstock.apps.brands.application import Brands  # noqa: PLC0415 - the package is named before it is needed

    return Brands.on(app)

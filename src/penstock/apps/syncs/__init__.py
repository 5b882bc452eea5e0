"""Syncs: the Airbyte connections of many tenants, each at its cadence, one sync of each at a time."""

from __future__ import annotations

from penstock.apps.syncs.application import Syncs
from penstock.apps.syncs.errors import ActiveJobExists, TooSoon
from penstock.client.app import Penstock

__all__ = ["ActiveJobExists", "Syncs", "TooSoon", "install"]


def install(app: Penstock) -> Syncs:
    """Put syncs on an app: its tasks, its schedule and its source. Nothing is opened yet."""
    return Syncs.on(app)

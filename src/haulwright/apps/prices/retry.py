"""How often the jobs of prices run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright.apps.prices.settings import PriceSettings

COLLECT_RETRY: Final = PriceSettings().retry
"""Scraping a price as the document has it, where no setting says otherwise: 1 min doubling, up to a day."""

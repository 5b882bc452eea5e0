"""Scraping: pages and JSON listings to records, by selectors that stand in configuration."""

from __future__ import annotations

from haulwright.sources.scrape.extraction import Extraction, RejectedItem, extract
from haulwright.sources.scrape.spec import FieldSpec, ListingSpec

__all__ = ["Extraction", "FieldSpec", "ListingSpec", "RejectedItem", "extract"]

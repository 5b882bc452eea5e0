"""Scraping: pages and JSON listings to records, by selectors that stand in configuration."""

from __future__ import annotations

from penstock.sources.scrape.extraction import Extraction, Rejected, extract
from penstock.sources.scrape.spec import FieldSpec, ListingSpec

__all__ = ["Extraction", "FieldSpec", "ListingSpec", "Rejected", "extract"]

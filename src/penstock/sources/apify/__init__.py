"""Apify v2: runs that are paid for once, waited for in steps, and read page by page."""

from __future__ import annotations

from penstock.sources.apify.client import BASE_URL, Apify
from penstock.sources.apify.errors import (
    ApifyAuthFailed,
    ApifyBilling,
    ApifyBusy,
    ApifyError,
    ApifyNotFound,
    ApifyRefused,
    ApifyTimeoutError,
    ApifyUnavailable,
)
from penstock.sources.apify.items import Item, Items, Page
from penstock.sources.apify.matching import MARKER_FIELD, input_hash
from penstock.sources.apify.runs import SUCCEEDED, TERMINAL, Run, RunOptions
from penstock.sources.apify.starting import Order

__all__ = [
    "BASE_URL",
    "MARKER_FIELD",
    "SUCCEEDED",
    "TERMINAL",
    "Apify",
    "ApifyAuthFailed",
    "ApifyBilling",
    "ApifyBusy",
    "ApifyError",
    "ApifyNotFound",
    "ApifyRefused",
    "ApifyTimeoutError",
    "ApifyUnavailable",
    "Item",
    "Items",
    "Order",
    "Page",
    "Run",
    "RunOptions",
    "input_hash",
]

"""Apify v2: runs that are paid for once, waited for in steps, and read page by page."""

from __future__ import annotations

from haulwright.sources.apify.client import BASE_URL, Apify
from haulwright.sources.apify.errors import (
    ApifyAuthFailed,
    ApifyBilling,
    ApifyBusy,
    ApifyError,
    ApifyNotFound,
    ApifyRefused,
    ApifyTimeoutError,
    ApifyUnavailable,
)
from haulwright.sources.apify.items import Item, Items, ItemsPage
from haulwright.sources.apify.matching import MARKER_FIELD, input_hash
from haulwright.sources.apify.runs import SUCCEEDED, TERMINAL, ActorRun, RunOptions
from haulwright.sources.apify.starting import Order

__all__ = [
    "BASE_URL",
    "MARKER_FIELD",
    "SUCCEEDED",
    "TERMINAL",
    "ActorRun",
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
    "ItemsPage",
    "Order",
    "RunOptions",
    "input_hash",
]

"""The order of a run, as Apify is asked for it and as it is found again there. A function of the row."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Final

from haulwright.apps.brands.rows import PaidRun
from haulwright.apps.brands.settings import BrandSettings
from haulwright.sources.apify import Apify, Order, RunOptions

CLOCKS_APART: Final = timedelta(days=1)
"""How far the clocks of the database and of Apify may be apart, where a run is known by its marker.

Looking back further than needed costs some requests; not far enough, a second run is paid for.
"""
BACKSTOP_SECONDS: Final = 60
"""So long after we would have aborted a run, Apify ends it by itself."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def order_of(apify: Apify, run: PaidRun, figures: BrandSettings, timeout_seconds: float | None = None) -> Order:
    """What a row asks for: its input, within its caps, known by its marker where one may go along."""
    since = _EPOCH + timedelta(microseconds=run.requested_at)
    return Order(
        apify,
        run.actor,
        json.loads(run.input),
        since=since - CLOCKS_APART if run.marked else since,
        options=RunOptions(
            timeout_seconds=round(timeout_seconds or figures.poll_timeout_seconds) + BACKSTOP_SECONDS,
            max_items=run.cap,
            max_total_charge_usd=figures.max_charge_usd,
        ),
        marked=run.marked,
        patience_seconds=figures.lag_seconds,
    )

"""Streams at full size: a client that is cut again and again beside many writers."""

from __future__ import annotations

import time

from haulwright import Haulwright
from proof.support.streams import EventWriters, follow_with_cuts, require_all_once_in_order
from tests.api.conftest import serving

EVENTS = 10_000
WRITERS = 8
CUTS = 50
SEED = 7


def test_a_client_that_is_cut_fifty_times_gets_every_event_once(database_url, report: list[str]):
    app = Haulwright(database_url)
    app.operations().schema.migrate()
    began = time.monotonic()
    with serving(app) as served, EventWriters(app.store, writers=WRITERS, events=EVENTS) as writers:
        events = follow_with_cuts(served.client(), writers.total, cuts=CUTS, seed=SEED)

    require_all_once_in_order(events, writers)
    report.append(
        f"{'postgres' if 'postgres' in database_url else 'sqlite'}: {len(events)} events by {WRITERS} writers, "
        f"{CUTS} cuts, each once and in order by job, {time.monotonic() - began:.1f} s"
    )

"""The statements of the hot path and of lists, with the index that must find their rows, and how they are explained."""

from __future__ import annotations

from typing import Any

import pytest

from haulwright.stores.leases import HIGHEST
from haulwright.stores.spared import NO_JOBS
from tests.stores.scenes import START

A_JOB = "018f2f6e-7c1a-7abc-8def-0123456789ab"
NOW: dict[str, Any] = {"now": START}
HELD = {"id": A_JOB, "fence": 3, "worker_id": A_JOB}
FAILURE = {"error_class": "E", "error_code": "e", "error_message": "m", "error_frames": "[]"}
BACK = {"delay_us": 5, "refund": 1, "deferral": 1, "losses": 0, "waiting_on": "gate", **FAILURE}
END = {"was": "running", "state": "dead", "reason": "r", "result": "1", "event_fields": "{}", "losses": 0, **FAILURE}
SHARE = {"tenant": "t1", "rank": 0, "limit": 5, "past_run_at": 0, "past_id": A_JOB}

PAST = {"past_tenant": "t4", "past_rank": 0, "past_run_at": 0, "past_id": A_JOB}
WALK = {"queue": "default", "after": "t3", "before": HIGHEST, "tenants": 4, **NOW}

HOT = {
    "scan_tenants": (WALK, {}, "haulwright_jobs_ready"),
    "claim": (
        {"queue": "default", "worker_id": A_JOB, "batch": 5, "bytes": 9, "gated": False, **NOW},
        SHARE,
        "haulwright_jobs_ready",
    ),
    "renew": (NOW, HELD, "primary key"),
    "lock": (HELD, {}, "primary key"),
    "progress": ({"progress": "1", **HELD, **NOW}, {}, "primary key"),
    "settle": (NOW, HELD | END, "primary key"),
    "put_back": (NOW, HELD | BACK, "primary key"),
    "asked_to_cancel": ({}, HELD, "primary key"),
    "ended": ({"losses": 0, **HELD}, {}, "primary key"),
    "stale": ({"limit": 100, **NOW}, {}, "haulwright_jobs_leased"),
    "ending": ({"since": 0, "within_us": 9, "limit": 100, **NOW}, {}, "haulwright_jobs_leased"),
    "silent": (NOW, HELD | {"heartbeat_at": 9}, "primary key"),
    "leases_of": ({"workers": [A_JOB], "limit": 100}, {}, "haulwright_jobs_leased"),
    "overdue": ({"limit": 100, **NOW}, {}, "haulwright_jobs_deadline"),
    "active_twin": ({"tenant": "t1", "task": "work", "key": "k"}, {}, "haulwright_jobs_unique"),
    "wake": ({"gate": "gate", "limit": 2, **NOW}, {}, "haulwright_jobs_waiting"),
    "lock_any": ({"id": A_JOB, "tenant": None}, {}, "primary key"),
    "dead_letter": ({"id": A_JOB, "tenant": "t1"}, {}, "primary key"),
    "prune": (
        {"state": "dead", "age_us": 9, "limit": 100, **NOW, **NO_JOBS.params},
        {},
        "haulwright_history_finished",
    ),
}
"""Each entry with its common parameters, the columns of its batch, and the index that must find its rows."""
HOT_ON_POSTGRES = HOT | {
    "scan_tenants_after": (WALK, PAST, "haulwright_jobs_ready"),
    "claim_single_tenant": (WALK | {"worker_id": A_JOB, "batch": 5, "bytes": 9}, {}, "haulwright_jobs_ready"),
}
ORDERED = {"scan_tenants", "scan_tenants_after", "claim", "claim_single_tenant", "stale", "ending", "overdue", "prune"}
"""Entries whose order comes from their index: sorting would read everything that matches."""
BOUND = {
    "claim": "run_at",
    "stale": "lease_expires_at",
    "ending": "lease_expires_at",
    "overdue": "deadline_at",
    "prune": "finished_at",
}
"""The column that ends the scan of the index: what is not due yet is never read."""
LISTS = {
    "events.latest_of_tenant": ({"before": 9, "tenant": "t1", "limit": 51}, "haulwright_events_tenant"),
    "events.latest_named": ({"before": 9, "name": "job.failed", "limit": 51}, "haulwright_events_name"),
    "queues.occupied_by": ({"after": "", "tenant": "t1", "limit": 51}, "haulwright_jobs_ready"),
}
"""Entries of lists with their parameters, and the index without which they would read what all others left."""


def steps_on(connection_type, explain, place, act):
    """The steps of all statements that an act runs: what stands in that place of every row that explains them."""
    steps = []
    execute = connection_type.execute

    def explained(self, sql, params=None):
        steps.extend(row[place] for row in execute(self, f"{explain} {sql}", params))
        return execute(self, sql, params)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection_type, "execute", explained)
        act()
    return steps

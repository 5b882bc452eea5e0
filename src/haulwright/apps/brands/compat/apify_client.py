"""The document's own client of Apify, on ours: start a run, poll it, fetch what it found. Each call blocks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from haulwright.apps.brands.buying.account import OwnClient
from haulwright.sources.apify import BASE_URL, SUCCEEDED, TERMINAL, ActorRun, Apify, ApifyTimeoutError
from haulwright.sources.http import Http, Limits, Policy
from haulwright.sources.http.shared_client import SharedClient

REQUEST_SECONDS: Final = 30.0
"""What one request may take."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as it stood when it was looked at."""

    run_id: str
    actor_id: str
    status: str
    dataset_id: str | None
    started_at: datetime | None
    finished_at: datetime | None = None
    error_message: str | None = None

    @classmethod
    def of(cls, run: ActorRun) -> Self:
        """From a run of our client."""
        return cls(
            run.id, run.actor_id, run.status, run.dataset_id or None, run.started_at, run.finished_at,
            None if run.is_success else run.status_message or None,
        )  # fmt: skip

    def is_terminal(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in TERMINAL

    def is_success(self) -> bool:
        """Whether it did what it was asked for."""
        return self.status == SUCCEEDED


class ApifyClient:
    """One account. A start is sent once; time-outs go by the monotonic clock."""

    def __init__(self, token: str, base_url: str = BASE_URL) -> None:
        self._http = Http(policy=Policy.for_address(base_url), limits=Limits(total=REQUEST_SECONDS))
        self._apify = Apify(self._http, token, base_url)
        self.own_client = OwnClient(self._apify, SharedClient(self._http))
        """The client of ours that it speaks through, for a task that is to use it."""

    def start_actor_run(self, actor_id: str, input_json: dict[str, Any]) -> RunInfo:
        """Start a run, which is paid for from now on."""
        return RunInfo.of(self._apify.start(actor_id, input_json))

    def poll_run(self, run_id: str, timeout_s: float = 180, interval_s: float = 3) -> RunInfo:
        """Look at a run until it is over; ApifyTimeoutError where that takes longer. The run goes on."""
        until = time.monotonic() + timeout_s
        while True:
            run = self._apify.wait_step(run_id, 0)
            if run.is_terminal:
                return RunInfo.of(run)
            left = until - time.monotonic()
            if left <= 0:
                late = ApifyTimeoutError(f"Polling timed out after {timeout_s:g}s for run_id={run_id}")
                late.run_id = run_id
                raise late
            time.sleep(min(interval_s, left))

    def fetch_dataset_items(self, dataset_id: str, limit: int, offset: int = 0) -> list[dict[str, Any]]:
        """The items of a dataset from the place `offset` on, at most so many."""
        return self._apify.page(dataset_id, offset=offset, limit=limit).items

    def close(self) -> None:
        """Close its connections. The next call opens new ones."""
        self._http.close()

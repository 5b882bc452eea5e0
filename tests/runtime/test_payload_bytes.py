"""A worker holds as many bytes of arguments as it has room for, and not as many jobs as it has hands."""

from __future__ import annotations

import threading

from haulwright import State
from haulwright.runtime import worker as workers
from tests.runtime.waiting import eventually

SIZE = 40_000


def test_a_worker_holds_a_few_large_jobs_at_a_time_and_runs_all_of_them(app, start_worker, monkeypatch):
    monkeypatch.setattr(workers, "CLAIM_BYTES", 3 * SIZE)
    may_end = threading.Semaphore(0)
    begun = []

    @app.task()
    def weigh(text: str) -> int:
        begun.append(len(text))
        may_end.acquire(timeout=30)
        return len(text)

    handles = [weigh.enqueue("x" * SIZE) for _ in range(12)]
    start_worker(concurrency=8)

    for held in (3, 6, 9, 12):
        eventually(lambda held=held: len(begun) == held)
        assert sum(handle.state() is State.RUNNING for handle in handles) == 3
        may_end.release(3)
    assert [handle.result(90) for handle in handles] == [SIZE] * 12

"""Celery on Redis: results ignored, and a job acknowledged after it ran, so that a crash does not lose it."""

from __future__ import annotations

from typing import Any

import redis
from celery import Celery

from bench.hits import counter
from bench.payload import items
from bench.peers import ADDRESS

DISTRIBUTIONS = ("celery", "kombu", "redis")
hit = counter()
app = Celery("bench", broker=ADDRESS.replace("unix://", "redis+socket://"))
app.conf.update(
    task_ignore_result=True, task_acks_late=True, worker_hijack_root_logger=False, task_default_queue="celery-bench"
)


@app.task(name="noop")
def noop(item: dict[str, Any]) -> None:
    """Nothing."""
    hit()


def reset() -> None:
    """An empty broker."""
    redis.Redis.from_url(ADDRESS).flushdb()


def fill(count: int) -> None:
    """Send one by one, for there is no bulk call."""
    with app.connection_for_write() as connection, app.amqp.Producer(connection) as producer:
        for item in items(count):
            noop.apply_async((item,), producer=producer)


def unfinished() -> bool:
    """What is not acknowledged yet is kept aside."""
    server = redis.Redis.from_url(ADDRESS)
    return bool(server.llen("celery-bench") or server.hlen("unacked"))


def work(setting: dict[str, Any]) -> None:
    """Its worker."""
    app.conf.worker_prefetch_multiplier = setting["prefetch"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"]
    app.worker_main(["worker", "--pool", setting["pool"], "--concurrency", str(setting["concurrency"]), *quiet])

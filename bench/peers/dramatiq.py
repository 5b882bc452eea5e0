"""Dramatiq on Redis: a message is acknowledged after it was processed."""

from __future__ import annotations

import threading
from typing import Any

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker

from bench.hits import counter
from bench.payload import items
from bench.peers import ADDRESS

DISTRIBUTIONS = ("dramatiq", "redis")
hit = counter()
broker = RedisBroker(url=ADDRESS)
dramatiq.set_broker(broker)


@dramatiq.actor(queue_name="bench")
def noop(item: dict[str, Any]) -> None:
    """Nothing."""
    hit()


def reset() -> None:
    """An empty broker."""
    redis.Redis.from_url(ADDRESS).flushdb()


def fill(count: int) -> None:
    """Send one by one, for there is no bulk call."""
    for item in items(count):
        noop.send(item)


def unfinished() -> bool:
    """A message is kept until it is acknowledged."""
    return bool(redis.Redis.from_url(ADDRESS).hlen("dramatiq:bench.msgs"))


def work(setting: dict[str, Any]) -> None:
    """Its worker threads, in this process."""
    worker = dramatiq.Worker(broker, worker_threads=setting["threads"])
    worker.queue_prefetch = setting["prefetch"]
    worker.start()
    threading.Event().wait()

"""Hears when jobs are enqueued on PostgreSQL, through LISTEN on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import psycopg

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.postgres.address import safe_url

CHANNEL = "haulwright"
"""All queues ring one bell: a worker that wakes for nothing claims once and sleeps again."""


class SilentListener:
    """Never rings: behind a transaction pooler jobs are found by asking."""

    def __init__(self) -> None:
        self._closed = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Wait in vain."""
        self._closed.wait(seconds)
        return False

    def close(self) -> None:
        """Stop waiting."""
        self._closed.set()


class PostgresListener:
    """Rings when somebody enqueued. Notices can be lost; whoever waits asks again by itself now and then."""

    def __init__(self, url: str, heard: Callable[[], None] = lambda: None) -> None:
        self._url = url
        self._heard = heard
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

    def wait(self, seconds: float) -> bool:
        """Wait for a ring, at most so long. A lost connection raises; the next wait makes a new one."""
        try:
            connection = self._connected()
            for _notice in connection.notifies(timeout=seconds, stop_after=1):
                self._heard()
                return True
        except psycopg.Error as error:
            self.close()
            message = f"The bell of {safe_url(self._url)} was lost: {str(error).strip().splitlines()[0]}"
            raise DatabaseUnavailable(message, hint="Jobs are still found by asking now and then.") from error
        except BaseException:
            self.close()  # it may be connected without listening
            raise
        return False

    def close(self) -> None:
        """Stop listening."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._connection is None:
            self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=10)
            self._connection.execute(f"listen {CHANNEL}")
        return self._connection

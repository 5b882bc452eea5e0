"""A proxy between workers and PostgreSQL that cuts connections during COMMIT, so that nobody knows what became of it.

Every n-th COMMIT is struck. In turn, one is never passed on, and of the next the server's answer is withheld: on the
worker's side both look the same.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle
from typing import Literal, Self
from urllib.parse import urlsplit, urlunsplit

from proof.faults.wire import is_commit_answer, messages, statement_of

Blow = Literal["not passed on", "answer withheld"]


class Proxy:
    """Passes everything on until it is told to strike."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._every = 0
        self._commits = 0
        self._kinds: Iterator[Blow] = cycle(("not passed on", "answer withheld"))
        self.blows: list[Blow] = []
        """What was done so far, in order."""
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    @property
    def url(self) -> str:
        """The database's address by way of this proxy, in plain text so that it can be read."""
        there = f"{self._parts.username}@127.0.0.1:{self._listener.getsockname()[1]}"
        query = "&".join(filter(None, (self._parts.query, "sslmode=disable", "gssencmode=disable")))
        return urlunsplit(self._parts._replace(netloc=there, query=query))

    def strike(self, every: int) -> None:
        """Strike every so many-th COMMIT from now on; 0 is none."""
        self._every = every

    def blow(self) -> Blow | None:
        """What becomes of the COMMIT that is on its way now."""
        with self._lock:
            self._commits += 1
            if not self._every or self._commits % self._every:
                return None
            self.blows.append(next(self._kinds))
            return self.blows[-1]

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection((self._parts.hostname or "", self._parts.port or 0))
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _Link(self, client, server).start()


class _Link:
    """One connection, in both directions."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._withholds = False
        self._commits: set[bytes] = set()
        """The names under which this connection prepared a COMMIT."""

    def start(self) -> None:
        """Pass messages on, each way on a thread of its own, until either side is gone or a blow falls."""
        for way in (self._forth, self._back):
            threading.Thread(target=self._pump, args=(way,), name="proxy", daemon=True).start()

    def _pump(self, way: Callable[[], None]) -> None:
        with suppress(OSError):  # either side is gone
            way()
        self._cut()

    def _forth(self) -> None:
        for message in messages(self._client, greeting=True):
            if self._is_commit(message):
                blow = self._proxy.blow()
                if blow == "not passed on":
                    return
                self._withholds = blow == "answer withheld"
            self._server.sendall(message)

    def _back(self) -> None:
        for message in messages(self._server, greeting=False):
            if self._withholds and is_commit_answer(message):
                return
            self._client.sendall(message)

    def _is_commit(self, message: bytes) -> bool:
        """Whether it runs a COMMIT: as text, or by the name of a statement that the driver prepared before."""
        kind, name, text = statement_of(message)
        if kind == "parse":
            (self._commits.add if text == b"commit" else self._commits.discard)(name)
            return False
        return (kind == "query" and text == b"commit") or (kind == "bind" and name in self._commits)

    def _cut(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

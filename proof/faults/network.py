"""A network between processes and PostgreSQL: a lane for each of them, which can be cut, slow, or a black hole."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self
from urllib.parse import urlsplit, urlunsplit

_PIECE_BYTES = 65_536
_CONNECT_SECONDS = 5.0


class Lane:
    """Passes bytes on in both directions, until somebody has other plans with them."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._ends: set[socket.socket] = set()
        self._open = threading.Event()
        self._open.set()
        self._delay_seconds = 0.0
        threading.Thread(target=self._accept, name="lane", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._open.set()
        self.cut()

    @property
    def url(self) -> str:
        """The database's address by way of this lane."""
        there = f"{self._parts.username}@127.0.0.1:{self._listener.getsockname()[1]}"
        query = "&".join(filter(None, (self._parts.query, "sslmode=disable", "gssencmode=disable")))
        return urlunsplit(self._parts._replace(netloc=there, query=query))

    def cut(self) -> int:
        """Break every connection now, and return how many there were."""
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            _shut(end)
        return len(ends) // 2

    @contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Let every piece take so much longer."""
        self._delay_seconds = seconds
        try:
            yield
        finally:
            self._delay_seconds = 0.0

    @contextmanager
    def swallowed(self) -> Iterator[None]:
        """Pass nothing on, and tell nobody: the bytes arrive when this is over."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), name="lane", daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self._open.wait()
        address = (self._parts.hostname or "", self._parts.port or 0)
        try:
            server = socket.create_connection(address, _CONNECT_SECONDS)
        except OSError:
            _shut(client)  # the server is away, and says so
            return
        server.settimeout(None)
        for end in (client, server):
            with suppress(OSError):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._ends |= {client, server}
        for ends in ((client, server), (server, client)):
            threading.Thread(target=self._pump, args=ends, name="lane", daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # either side is gone
            while piece := source.recv(_PIECE_BYTES):
                self._open.wait()
                time.sleep(self._delay_seconds) if self._delay_seconds else None
                target.sendall(piece)
        for end in (source, target):
            with self._lock:
                self._ends.discard(end)
            _shut(end)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()

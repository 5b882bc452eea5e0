"""Small servers for what no honest server does: each request is written down, and answered with the bytes of a test."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

Answer = bytes | Callable[[socket.socket, bytes], None]
"""What to send, or what to do with the connection and the request."""


def respond(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    """The bytes of an answer; underscores in the names of headers stand for hyphens."""
    fields = {"Content-Length": str(len(body)), "Connection": "close"}
    fields |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


class Server:
    """Answers the requests of one test in turn; the last answer is repeated."""

    def __init__(self, *answers: Answer, host: str = "127.0.0.1") -> None:
        self.answers = list(answers) or [respond(200, b"hello")]
        self.requests: list[bytes] = []
        self.connections = 0
        self._listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        self._open: list[socket.socket] = []
        self._tls: ssl.SSLContext | None = None
        self._arrived = threading.Event()
        self.closed = threading.Semaphore(0)
        """Released for each connection that it has closed."""

    def wrap(self, tls: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._tls = tls

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            connection.close()

    async def arrival(self) -> None:
        """Wait for the first request."""
        assert await asyncio.to_thread(self._arrived.wait, 10)

    @property
    def first_lines(self) -> list[str]:
        return [request.split(b"\r\n")[0].decode() for request in self.requests]

    def header(self, name: str, request: int = -1) -> str | None:
        """What one request said in a header."""
        for line in self.requests[request].partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name:
                return value
        return None

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        with (
            suppress(OSError),
            self._tls.wrap_socket(accepted, server_side=True) if self._tls else accepted as connection,
        ):
            request = self._read(connection)
            if not request:
                return  # nothing was asked, so nobody waits for its end
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(request)
            self._arrived.set()
            if callable(answer):
                answer(connection, request)
            else:
                connection.sendall(answer)
        self.closed.release()

    @staticmethod
    def _read(connection: socket.socket) -> bytes:
        """One request: its head, and as much body as it announces."""
        received = b""
        while b"\r\n\r\n" not in received:
            if not (chunk := connection.recv(65_536)):
                return b""
            received += chunk
        head, _, body = received.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += connection.recv(65_536)
        return head + b"\r\n\r\n" + body

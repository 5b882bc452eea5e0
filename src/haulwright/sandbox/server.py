"""The listener: real HTTP/1.1 with kept connections, a thread for each."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import sys
import threading
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import SandboxReply, SandboxRequest
from haulwright.sandbox.wire import Cut, deliver

LARGEST_BODY = 64 * 1024 * 1024
IDLE_SECONDS = 300
CLOSING_SECONDS = 5.0
CLOSING_LOOK_SECONDS = 0.02
"""How often the listener looks whether it is to end."""

Answer = Callable[[SandboxRequest], tuple[SandboxReply, Callable[[int], None]]]
"""From a request to its answer, and whom to tell how many bytes of the body went out."""


class BodyTooLarge(ValueError):
    """The body of the request is beyond the limit."""


class Server(ThreadingHTTPServer):
    """A server that can be closed at any moment, whatever its clients do."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, answer: Answer, clock: SandboxClock) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.answer = answer
        self.clock = clock
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        look = {"poll_interval": CLOSING_LOOK_SECONDS}
        self._listener = threading.Thread(target=self.serve_forever, kwargs=look, name="sandbox", daemon=True)

    def server_bind(self) -> None:
        """Take the port without asking anybody for the name of this host, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def start(self) -> None:
        """Listen from now on."""
        self._listener.start()

    def stop(self) -> None:
        """Close the port and every connection, and wait until all threads let go."""
        self.stopping.set()
        self.shutdown()
        self.server_close()
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, CLOSING_SECONDS)
        self._listener.join(CLOSING_SECONDS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that it can be closed from outside."""
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that is over."""
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left in the middle is none of our business; everything else is a defect."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    server: Server

    def handle_any(self) -> None:
        """Read a request, have it answered, send the answer."""
        try:
            request = self._request()
        except (BodyTooLarge, ValueError, zlib.error) as error:
            self.close_connection = True
            self.send_error(413 if isinstance(error, BodyTooLarge) else 400, str(error))
            return
        reply, sent = self.server.answer(request)
        try:
            deliver(
                reply,
                now=self.server.clock.now(),
                with_body=self.command != "HEAD",
                send=self.wfile.write,
                sent=sent,
                pause=self._pause,
            )
        except (Cut, OSError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any  # noqa: N815 - the library's

    def _pause(self, seconds: float) -> None:
        if self.server.stopping.wait(seconds):
            raise Cut

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's signature
        """Say nothing: the books hold everything."""

    def _request(self) -> SandboxRequest:
        address = urlsplit(self.path)
        query = parse_qs(address.query, keep_blank_values=True)
        return SandboxRequest(
            method=self.command,
            path=unquote(address.path),
            query={name: tuple(values) for name, values in query.items()},
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._decoded(self._body()),
            base=f"http://{self.headers.get('Host', '127.0.0.1')}",
        )

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunked_body()
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= LARGEST_BODY:
            raise BodyTooLarge(f"at most {LARGEST_BODY} bytes")
        return self.rfile.read(length)

    def _chunked_body(self) -> bytes:
        pieces: list[bytes] = []
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            if size + sum(map(len, pieces)) > LARGEST_BODY:
                raise BodyTooLarge(f"at most {LARGEST_BODY} bytes")
            pieces.append(self.rfile.read(size))
            self.rfile.readline(100)
        while self.rfile.readline(65_536).strip():
            pass
        return b"".join(pieces)

    def _decoded(self, body: bytes) -> bytes:
        if self.headers.get("Content-Encoding", "").lower() not in {"gzip", "deflate"}:
            return body
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, LARGEST_BODY)

"""The API as a process: it listens, answers, and ends in order. It opens no slots and runs no jobs."""

from __future__ import annotations

import socket
from types import FrameType
from typing import TYPE_CHECKING, Final

import uvicorn
from starlette.concurrency import run_in_threadpool

from haulwright.api.auth.session import is_loopback
from haulwright.api.head_limits import HeadLimits
from haulwright.errors import DatabaseProblem, InvalidValue, Refused

if TYPE_CHECKING:
    from fastapi import FastAPI

    from haulwright.api.streams.streams import Streams
    from haulwright.client.app import Haulwright

GRACE_SECONDS: Final = 10
KEEP_ALIVE_SECONDS: Final = 65
BACKLOG: Final = 2048


class StreamEndingServer(uvicorn.Server):
    """A server that ends its streams before it waits for its answers: they would never be finished."""

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End in order."""
        self._streams.end()
        await super().shutdown(sockets)
        await run_in_threadpool(self._streams.hub.join)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as a handler of signals has it
        """End in order by a signal, and do not die of it afterwards; a second one does not wait for open requests."""
        self.force_exit = self.should_exit
        self.should_exit = True


class ApiServer:
    """One API at one address."""

    def __init__(self, api: FastAPI, *, host: str, port: int, root_path: str = "", proxies: str = "127.0.0.1") -> None:
        config = uvicorn.Config(
            api,
            http=HeadLimits,
            ws="none",
            loop="auto",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            root_path=root_path.rstrip("/"),
            forwarded_allow_ips=proxies,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self.streams: Streams = api.state.streams
        self._server = StreamEndingServer(config, self.streams)
        self._socket = listen(host, port)

    @property
    def address(self) -> str:
        """Where it listens, as a browser writes it."""
        host, port = self._socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def run(self) -> None:
        """Answer until a signal comes; open requests are finished first, and streams told to come again."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End in order, from another thread."""
        self._server.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """An open socket, so that whoever is told the address finds somebody there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        hint = "Take another one: --port 0 takes any that is free."
        raise Refused(f"Nothing can listen at {host}:{port}: {error.strerror or error}.", hint=hint) from error
    opened.listen(BACKLOG)
    opened.set_inheritable(True)
    return opened


def require_closed(app: Haulwright, host: str, *, has_login: bool) -> bool:
    """Whether somebody could come in with a token. Where nobody could, refuse to listen for other machines."""
    if host == "":
        raise InvalidValue("host", host, "is no address", hint="0.0.0.0 is every address of this machine.")
    try:
        is_known = has_login or app.operations().tokens.any_live()
    except DatabaseProblem:
        is_known = True  # it will be there, or nobody gets in
    if not is_known and not is_loopback(host):
        message = (
            f"Nobody could say who they are: there is no token, and no key for tokens of others. {host} is for all."
        )
        hint = "Create one: haulwright token create NAME --tenant TENANT; or set HAULWRIGHT_JWT_JWKS or a key."
        raise Refused(message, hint=hint)
    return is_known

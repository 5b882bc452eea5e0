"""Gives every request an id, which its answer, its problems, its events and its lines in the log carry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from haulwright.engine.ids import new_id

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER: Final = b"x-request-id"
_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,100}")


class RequestIds:
    """The outermost layer. An id that a proxy gave is kept, where it looks like one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        proxy_id = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = proxy_id if _ID.fullmatch(proxy_id) else new_id().encode()
        scope.setdefault("state", {})["request_id"] = request_id.decode()

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (HEADER, request_id)]
            await send(message)

        await self._app(scope, receive, answer)

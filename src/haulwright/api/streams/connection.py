"""The connection of a request, as far as a stream has to do with it: it can be let go of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from starlette.types import Scope

ABORT: Final = "haulwright.abort"


class AbortableHttp(HttpToolsProtocol):
    """A connection that a request can close at once: who does not read would keep what waits for it, and a stop too."""

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"call": self.transport.abort}}


def abort_of(scope: Scope) -> Callable[[], None]:
    """What lets go of the connection of a request; nothing, where the server cannot."""
    abort: Callable[[], None] = scope.get("extensions", {}).get(ABORT, {}).get("call", lambda: None)
    return abort

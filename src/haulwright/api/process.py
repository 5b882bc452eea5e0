"""The web process as the settings say: who may come in, its limits, and where it listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.api.application import Neighbour, create_api
from haulwright.api.auth.session import LocalSessions
from haulwright.api.limits import ApiLimits
from haulwright.api.server import ApiServer, require_closed
from haulwright.api.settings import authenticators_of

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.settings import Settings


def open_server(
    app: Haulwright, settings: Settings, *, user: str, secret: str | None = None, neighbour: Neighbour | None = None
) -> tuple[ApiServer, str | None]:
    """A server that listens already; and, where nobody could come in with a token, the path that lets its user in.

    `secret` is that of the session of a process before this one, which goes on.
    """
    authenticators, host = authenticators_of(app, settings), str(settings["web_host"])
    is_known = require_closed(app, host, has_jwt=len(authenticators) > 1)
    sessions = None if is_known else LocalSessions(user, secret)
    limits = ApiLimits.of(settings)
    api = create_api(app, authenticators=authenticators, limits=limits, sessions=sessions, neighbour=neighbour)
    server = ApiServer(
        api,
        host=host,
        port=int(settings["web_port"]),
        root_path=str(settings["web_root_path"]),
        proxies=str(settings["web_proxies"]),
    )
    return server, None if sessions is None else sessions.link

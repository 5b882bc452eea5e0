"""The web process as the settings say: who may come in, its limits, and where it listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.api.application import Neighbour, create_api
from haulwright.api.auth.host_login import host_login_of
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
    host_login = None if settings["web_login"] is None else host_login_of(str(settings["web_login"]))
    has_login = len(authenticators) > 1 or host_login is not None
    sessions = None if require_closed(app, host, has_login=has_login) else LocalSessions(user, secret)
    api = create_api(
        app,
        authenticators=authenticators,
        limits=ApiLimits.of(settings),
        sessions=sessions,
        host_login=host_login,
        neighbour=neighbour,
    )
    server = ApiServer(
        api,
        host=host,
        port=int(settings["web_port"]),
        root_path=str(settings["web_root_path"]),
        proxies=str(settings["web_proxies"]),
    )
    return server, None if sessions is None else sessions.link

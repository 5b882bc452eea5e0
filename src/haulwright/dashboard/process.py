"""The web process as the settings say: the API for programs and the dashboard for people, at one address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.api.process import open_server
from haulwright.dashboard.site import dashboard

if TYPE_CHECKING:
    from haulwright.api.server import ApiServer
    from haulwright.client.app import Haulwright
    from haulwright.settings import Settings


def open_web(
    app: Haulwright, settings: Settings, *, user: str, secret: str | None = None
) -> tuple[ApiServer, str | None]:
    """A server that listens already; and, where nobody could come in with a token, the path that lets its user in."""
    return open_server(app, settings, user=user, secret=secret, neighbour=dashboard(app))

"""The dashboard on what the demo leaves behind, for who keeps it running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from haulwright.errors import MissingExtra
from haulwright.extras import require_extra

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.settings import Settings


@contextmanager
def serving_dashboard(app: Haulwright, settings: Settings, *, user: str) -> Iterator[str | None]:
    """Serve it on a free port of this machine; its address lets one browser in. None where its extra is missing."""
    try:
        require_extra("web", "The dashboard")
    except MissingExtra:
        yield None
        return
    from haulwright.dashboard.process import open_web  # noqa: PLC0415 - not in every installation

    local = settings.with_flag("web_host", "127.0.0.1", "--keep").with_flag("web_port", 0, "--keep")
    server, link = open_web(app, local, user=user)
    thread = Thread(target=server.run, name="dashboard")
    thread.start()
    try:
        yield f"{server.address}{link or '/ui'}"
    finally:
        server.stop()
        thread.join()

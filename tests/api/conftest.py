"""What the tests of the API stand on: a real server on loopback, on each database in turn, and callers with tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from haulwright import Haulwright
from haulwright.api.application import create_api
from haulwright.api.server import ApiServer


@dataclass
class Served:
    """An app behind its API."""

    app: Haulwright
    server: ApiServer
    clients: list[httpx2.Client] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.server.address

    def client(self, tenant: str | None = "acme", *, role: str = "tenant", **headers: str) -> httpx2.Client:
        """Somebody with a token, who calls below the prefix of the API."""
        new = self.app.operations().tokens.create(f"test-{role}", role=role, tenant=tenant)
        return self.anonymous(Authorization=f"Bearer {new.token}", **headers)

    def support(self, tenant: str = "acme", reason: str = "ticket 7") -> httpx2.Client:
        """Support, who says for whom and why."""
        return self.client(None, role="support", **{"Haulwright-Tenant": tenant, "Haulwright-Reason": reason})

    def admin(self, **headers: str) -> httpx2.Client:
        """Somebody who runs the installation."""
        return self.client(None, role="admin", **headers)

    def anonymous(self, **headers: str) -> httpx2.Client:
        """Somebody without a token."""
        client = httpx2.Client(base_url=f"{self.address}/api/v1", headers=headers, timeout=60)
        self.clients.append(client)
        return client


@contextmanager
def serving(app: Haulwright, **options: Any) -> Iterator[Served]:
    """Serve an app on a free port, and end in order."""
    server = ApiServer(create_api(app, **options), host="127.0.0.1", port=0)
    thread = threading.Thread(target=server.run, name="api")
    thread.start()
    served = Served(app, server)
    try:
        yield served
    finally:
        for client in served.clients:
            client.close()
        server.stop()
        thread.join()
        app.close()


@pytest.fixture
def app(database_url: str) -> Haulwright:
    """An app with two tasks."""
    app = Haulwright(database_url)

    @app.task()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @app.task(audit=True, retry=1)
    def fail(why: str) -> None:
        raise RuntimeError(why)

    app.operations().schema.migrate()
    return app


@pytest.fixture
def served(app: Haulwright) -> Iterator[Served]:
    """The app behind its API."""
    with serving(app) as served:
        yield served

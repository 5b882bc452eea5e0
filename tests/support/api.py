"""A real server of the API on loopback, and callers with tokens, whose answers are held to the API's own document."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jsonschema_rs
from fastapi import FastAPI

from haulwright import Haulwright
from haulwright.api.application import create_api
from haulwright.api.limits import ApiLimits
from haulwright.api.server import ApiServer

NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""To load those of the system, for each client of a server that speaks plain HTTP, takes longer than most requests."""

_documents: dict[tuple[str, ...], dict[str, Any]] = {}
_validators: dict[tuple[str, str, str], Any] = {}


@dataclass
class Served:
    """An app behind its API."""

    app: Haulwright
    api: FastAPI
    server: ApiServer
    root: str = ""
    """The prefix under which it is offered."""
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
        hooks = {"response": [self._require_documented]}
        client = httpx2.Client(
            base_url=f"{self.address}/api/v1", headers=headers, timeout=60, event_hooks=hooks, verify=NO_CERTIFICATES
        )
        self.clients.append(client)
        return client

    def _require_documented(self, answer: httpx2.Response) -> None:
        """Fail on JSON that is not as the document of the API says of its route and status."""
        if answer.headers.get("content-type") != "application/json":
            return
        document = self.document
        path = answer.request.url.path
        paths = document["paths"].items()
        fits = (one for one in paths if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", one[0]), path))
        fit = next(fits, None)
        if fit is None:
            return  # a route that a test added
        template, methods = fit
        method, status = answer.request.method.lower(), str(answer.status_code)
        validator = _validators.get((template, method, status))
        if validator is None:
            described = methods[method]["responses"][status]["content"]["application/json"]["schema"]
            validator = jsonschema_rs.validator_for({**described, "components": document["components"]})
            _validators[template, method, status] = validator
        answer.read()
        for error in validator.iter_errors(answer.json()):
            raise AssertionError(f"{template}: {error.message} at {list(error.instance_path)}")

    @property
    def document(self) -> dict[str, Any]:
        """The API's own document, made once a process for the same applications: that takes a while."""
        key = tuple(sorted(self.app.applications))
        if key not in _documents:
            _documents[key] = dict(self.api.openapi())
        return _documents[key]


@contextmanager
def serving(app: Haulwright, *, root_path: str = "", **options: Any) -> Iterator[Served]:
    """Serve an app on a free port, and end in order."""
    options.setdefault("limits", ApiLimits(rate_per_minute=0, failures_per_minute=0))  # tests are in a hurry
    api = create_api(app, **options)
    server = ApiServer(api, host="127.0.0.1", port=0, root_path=root_path)
    thread = threading.Thread(target=server.run, name="api")
    thread.start()
    served = Served(app, api, server, root_path)
    try:
        yield served
    finally:
        for client in served.clients:
            client.close()
        server.stop()
        thread.join()
        app.close()


Route = tuple[str, str, dict[str, Any] | None]
"""Method, path with names for ids, and a body."""


def problem(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the code of a problem."""
    return answer.status_code, answer.json()["code"]


def ask(client: httpx2.Client, prefix: str, route: Route, ids: dict[str, str]) -> tuple[int, str]:
    """The answer to a request about some ids, with a word in place of each, so that two may be compared."""
    method, path, body = route
    answer = client.request(method, prefix + path.format(**ids), json=body)
    text = answer.text
    for value in ids.values():
        text = text.replace(value, "ID")
    return answer.status_code, text

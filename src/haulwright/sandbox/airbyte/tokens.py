"""Access tokens that live for a while, and those of people who bring their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from haulwright.sandbox.airbyte.problems import bad_request, invalid_key
from haulwright.sandbox.chance import identifier
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import SandboxRequest

TOKEN_SECONDS = 900


@dataclass(slots=True)
class TokenIssuer:
    """Who was let in, and until when."""

    clock: SandboxClock
    seed: int
    lifetime_seconds: int = TOKEN_SECONDS
    revoked: set[str] = field(default_factory=set)
    """Clients that are not let in any more, and tokens of people that are not."""
    issued: dict[str, tuple[str, float]] = field(default_factory=dict)
    """The client of each token, and when it is over."""

    def issue(self, request: SandboxRequest) -> dict[str, Any]:
        """A token for a client that names itself, in JSON or as a form."""
        document = request.form() if "form" in request.headers.get("content-type", "") else request.json_object()
        client, secret = document.get("client_id"), document.get("client_secret")
        grant = document.get("grant_type", document.get("grant-type", "client_credentials"))
        if not client or not secret or grant != "client_credentials":
            raise bad_request("client_id, client_secret and the grant type client_credentials are needed")
        if client in self.revoked:
            raise invalid_key()
        token = identifier(self.seed, "token", client, len(self.issued), length=40)
        self.issued[token] = (client, self.clock.now() + self.lifetime_seconds)
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime_seconds}

    def client(self, request: SandboxRequest) -> str:
        """The client behind a request. A token that was not issued here is somebody's own, and welcome."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        client, ends = self.issued.get(token, (token, math.inf))
        if scheme != "Bearer" or not token or self.clock.now() >= ends or client in self.revoked:
            raise invalid_key()
        return client

    def expire(self) -> None:
        """End every token that was issued now."""
        self.issued = {token: (client, 0.0) for token, (client, _) in self.issued.items()}

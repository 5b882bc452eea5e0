"""Refusals as RFC 9457 problems, in Airbyte's words."""

from __future__ import annotations

from typing import Any

from haulwright.sandbox.exchange import SandboxReply, json_reply

ERRORS = "https://reference.airbyte.com/reference/errors"


class Problem(Exception):
    """A request that Airbyte refuses."""

    def __init__(self, status: int, kind: str, title: str, detail: str, **data: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.title = title
        self.data = data

    def reply(self) -> SandboxReply:
        """The answer."""
        document: dict[str, Any] = {
            "status": self.status,
            "type": self.kind,
            "title": self.title,
            "detail": str(self),
            "documentationUrl": None,
        }
        return json_reply(document | {"data": self.data}, self.status, kind="application/problem+json")


def bad_request(why: str) -> Problem:
    """Something in the request makes no sense."""
    return Problem(400, f"{ERRORS}#bad-request", "bad-request", "The request could not be understood.", message=why)


def invalid_key() -> Problem:
    """No token, or one that is over."""
    return Problem(401, f"{ERRORS}#invalid-api-key", "invalid-api-key", "The API key is not valid.")


def not_found(kind: str, name: object) -> Problem:
    """Nothing of that id, or nothing that this client may see."""
    detail = "The requested resource was not found."
    return Problem(
        404, f"{ERRORS}#resource-not-found", "resource-not-found", detail, resourceType=kind, resourceId=str(name)
    )


def already_running(connection: str) -> Problem:
    """Airbyte's own guard against two syncs at once."""
    message = f"A sync is already running for: {connection}"
    return Problem(409, f"{ERRORS}#try-again-later", "try-again-later", "Try again later.", message=message)


def state_conflict(why: str) -> Problem:
    """It is too late, or the connection is in no state for it."""
    return Problem(409, f"{ERRORS}#409-state-conflict", "state-conflict", "State conflict.", message=why)


def locked(connection: str) -> Problem:
    """The connection was locked by Airbyte."""
    return Problem(
        409, "error:connection/locked", "connection-locked", "Connection is locked.", connectionId=connection
    )

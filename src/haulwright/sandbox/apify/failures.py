"""Refusals in Apify's form."""

from __future__ import annotations

from haulwright.sandbox.exchange import SandboxReply, json_reply


class ApifyFailure(Exception):
    """A request that Apify refuses, with the status and the type that it gives."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def reply(self) -> SandboxReply:
        """The answer."""
        return json_reply({"error": {"type": self.kind, "message": str(self)}}, self.status)


def not_found(what: str) -> ApifyFailure:
    """Nothing of that id, or nothing that this account may see."""
    return ApifyFailure(404, "record-not-found", f"{what} was not found")

"""Refusals in Apify's form."""

from __future__ import annotations

from penstock.sandbox.exchange import Reply, json_reply


class ApifyError(Exception):
    """A request that Apify refuses, with the status and the type that it gives."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def reply(self) -> Reply:
        """The answer."""
        return json_reply({"error": {"type": self.kind, "message": str(self)}}, self.status)


def not_found(what: str) -> ApifyError:
    """Nothing of that id, or nothing that this account may see."""
    return ApifyError(404, "record-not-found", f"{what} was not found")

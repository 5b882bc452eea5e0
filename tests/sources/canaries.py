"""The canaries of `test_secrets`, and the ways in which a call fails there. No `Secret` is made of them here."""

from __future__ import annotations

from typing import Any

OUTSIDE_VARIABLE = "TEST_OUTSIDE"
KINDS = (
    "bearer",
    "basic",
    "header",
    "query",
    "userinfo",
    "parameter",
    "plain",
    "apify",
    "airbyte-client",
    "airbyte-token",
)
"""The places that a credential can be in."""
CANARIES = {kind: f"canary-{number:02}-{kind}-7f3a9c51" for number, kind in enumerate((*KINDS, "database"))}
STATUSES = ("200", "400", "401", "403", "404", "429", "500")
FAULTS: dict[str, dict[str, Any]] = {
    "cut": {"kind": "truncate", "after_bytes": 5},
    "hangs": {"kind": "hang", "seconds": 20},
    "lost": {"kind": "lost_reply"},
}
ELSEWHERE = "elsewhere"
"""The ending that leads to an address with the canary in it."""
NOBODY = "nobody"
"""The ending where nobody listens at all."""
HEARD = (*STATUSES, *FAULTS, ELSEWHERE)
ENDINGS = (*HEARD, NOBODY)


def place(kind: str, ending: str) -> str:
    """The path below which a call of this kind ends so."""
    return f"/ending/{ending}/{kind}"


def fault(kind: str, ending: str) -> dict[str, Any]:
    """What becomes of such a call; whatever has a body says the canary back, and would like to be kept."""
    said = f"You sent {CANARIES[kind]}, did you?"
    headers = {"Content-Type": "text/plain", "ETag": '"echo"', "Cache-Control": "max-age=600", "X-Echo": said}
    if ending == "429":
        headers["Retry-After"] = "60"
    if ending == ELSEWHERE:
        return {"kind": "status", "code": 302, "headers": {"Location": f"ftp://user:{CANARIES[kind]}@x.example/"}}
    return FAULTS.get(ending) or {"kind": "status", "code": int(ending), "headers": headers, "body": said}

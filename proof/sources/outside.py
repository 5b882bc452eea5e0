"""The outside world of a proof, in a process of its own: a sandbox that notes when each request came and when it went.

python -m proof.sources.outside SECONDS     takes so long over every request
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.request import Request as Asked
from urllib.request import urlopen

from haulwright.sandbox import Sandbox
from haulwright.sandbox.exchange import SandboxReply, SandboxRequest
from haulwright.sandbox.sandbox import CONTROL
from proof.faults.crew import until
from proof.support.diary import Diary
from proof.support.site import Site

ADDRESS = "the address of the outside"
SENDER = "x-sender"
JOB = "x-job"
FENCE = "x-fence"

Answer = Callable[[SandboxRequest], tuple[SandboxReply, Callable[[int], None]]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, as the server saw it."""

    came: float
    went: float
    """When it was answered, or dropped."""
    sender: int
    """The worker that it came from, by the id of its process."""
    job: str
    status: int | None
    """None where the connection was dropped."""


class Outside:
    """The proof's side of it."""

    def __init__(self, site: Site, *, takes_seconds: float) -> None:
        self._diary = site.outside()
        site.spawn("proof.sources.outside", str(takes_seconds))
        address = site.folder / ADDRESS
        until("the outside world is there", lambda: address.exists() and bool(address.read_text()))
        self.url = address.read_text()

    def break_down(self, kind: str = "status", **how: Any) -> None:
        """Let requests fail from now on, by a rule of the sandbox."""
        self._control("POST", {"kind": kind, "times": None, **how})

    def mend(self) -> None:
        """Take all rules away."""
        self._control("DELETE", {})

    def requests(self) -> list[Seen]:
        """What was asked so far and is over, in the order in which it came."""
        seen = [
            Seen(e.more["came"], e.more["went"], e.more["sender"], str(e.job), e.more["status"])
            for e in self._diary.of("request")
        ]
        return sorted(seen, key=lambda one: one.came)

    def close(self) -> None:
        """Let its diary go; the process ends with the site."""
        self._diary.close()

    def _control(self, method: str, body: dict[str, Any]) -> None:
        asked = Asked(f"{self.url}{CONTROL}/faults", json.dumps(body).encode(), method=method)  # noqa: S310 - loopback
        with urlopen(asked, timeout=30) as answer:  # noqa: S310 - as above
            answer.read()


def _noted(answer: Answer, diary: Diary, seconds: float) -> Answer:
    def take_time_and_note(request: SandboxRequest) -> tuple[SandboxReply, Callable[[int], None]]:
        if request.path.startswith(CONTROL):
            return answer(request)
        came = time.time()
        time.sleep(seconds)
        reply, sent = answer(request)
        headers, status = request.headers, None if reply.delivery.dropped else reply.status
        told = {"sender": int(headers[SENDER]), "came": came, "went": time.time(), "status": status}
        diary.write("request", headers[JOB], int(headers[FENCE]), **told)
        return reply, sent

    return take_time_and_note


def main() -> None:
    """Serve until the proof is over."""
    site = Site.from_environment()
    with Sandbox() as sandbox:
        server = sandbox._server
        server.answer = _noted(server.answer, site.outside(), float(sys.argv[1]))
        (site.folder / ADDRESS).write_text(sandbox.url)
        threading.Event().wait()


if __name__ == "__main__":
    main()

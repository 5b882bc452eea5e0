"""The sandbox itself: all parts of the outside world behind one port of this machine."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Self

from haulwright.sandbox.airbyte.service import AirbyteSandbox
from haulwright.sandbox.apify.service import ApifySandbox
from haulwright.sandbox.books import Books
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.control import Control, Service
from haulwright.sandbox.exchange import SandboxReply, SandboxRequest, text_reply
from haulwright.sandbox.faults import Fault, FaultScript
from haulwright.sandbox.feeds.service import FeedsSandbox
from haulwright.sandbox.files.service import Files
from haulwright.sandbox.model.service import Model
from haulwright.sandbox.server import Server
from haulwright.sandbox.shop.service import ShopSandbox

CONTROL = "/_sandbox"
ROBOTS = "/robots.txt"


class Sandbox:
    """A stand-in for the outside world over real HTTP on loopback, for as long as it is entered.

    The same seed and clock give the same world. `clock` is a `Clock`, or anything that returns seconds since 1970.
    """

    def __init__(self, port: int = 0, *, seed: int = 1, clock: SandboxClock | Callable[[], float] = time.time) -> None:
        self.seed = seed
        self.clock = clock if isinstance(clock, SandboxClock) else SandboxClock(clock)
        self.books = Books(self.clock)
        self.faults = FaultScript()
        self.apify = ApifySandbox(self.clock, self.books, seed)
        self.airbyte = AirbyteSandbox(self.clock, seed)
        self.feeds = FeedsSandbox(self.clock, seed)
        self.shop = ShopSandbox(self.clock, seed)
        self.files = Files(self.clock, self.books, seed)
        self.model = Model(self.clock, self.books)
        self._services: dict[str, Service] = {
            "apify": self.apify,
            "airbyte": self.airbyte,
            "feeds": self.feeds,
            "shop": self.shop,
            "files": self.files,
            "model": self.model,
        }
        self._control = Control(self.clock, self.books, self.faults, self._services)
        self._server = Server(port, self._answer, self.clock)

    @property
    def url(self) -> str:
        """Where everything is: `<url>/apify`, `<url>/airbyte/v1`, `<url>/feeds/...` and so on."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.faults.clear()
        self._server.stop()

    def reset(self) -> None:
        """Make everything but the clock as it was at the beginning."""
        self._control.reset()

    def _answer(self, request: SandboxRequest) -> tuple[SandboxReply, Callable[[int], None]]:
        """Write a request down, carry it out as far as the fault that waits for it allows, and say who counts bytes."""
        if request.path.startswith(CONTROL):
            return self._control.answer(request.below(CONTROL)), _unwritten
        number = self.books.enter(_service_name(request), request).number
        fault = self.faults.meet(request)
        if fault is None:
            reply = self._carried_out(request)
        else:
            self.books.note(number, fault=fault.kind)
            reply = self._spoiled(request, fault)
        if not reply.delivery.dropped:
            self.books.note(number, status=reply.status)
        return reply, lambda sent: self.books.note(number, sent=sent)

    def _spoiled(self, request: SandboxRequest, fault: Fault) -> SandboxReply:
        """What becomes of a request that meets a fault."""
        if fault.kind == "hang" and not fault.carried_out:
            self.faults.hang(fault)
        reply = SandboxReply() if fault.before else self._carried_out(request)
        if fault.kind == "hang" and fault.carried_out:
            self.faults.hang(fault)
        return fault.spoiled(reply, self.clock.now())

    def _carried_out(self, request: SandboxRequest) -> SandboxReply:
        name = _service_name(request)
        service = self._services.get(name)
        if service is None:
            return text_reply(f"Nothing lives at {request.path}. There are: {', '.join(self._services)}.\n", status=404)
        try:
            return service.answer(request if request.path == ROBOTS else request.below(f"/{name}"))
        except Exception:  # noqa: BLE001 - a defect of the sandbox has to be seen by whoever meets it
            return text_reply(f"The sandbox has a defect:\n\n{traceback.format_exc()}", status=500)


def _service_name(request: SandboxRequest) -> str:
    """The first piece of the path. What robots may do is the shop's to say, for the whole host."""
    return "shop" if request.path == ROBOTS else request.path.removeprefix("/").partition("/")[0]


def _unwritten(_: int) -> None:
    """What goes to the control is in no books."""

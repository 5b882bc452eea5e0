"""The same control for those outside the process: `/_sandbox/...`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from haulwright.sandbox.books import Books
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import BadRequest, SandboxReply, SandboxRequest, json_reply
from haulwright.sandbox.faults import FaultScript
from haulwright.sandbox.routes import NoRoute, Routes


class Service(Protocol):
    """A part of the outside world."""

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out."""
        ...

    @property
    def script(self) -> Callable[..., None]:
        """Decide what happens next in this part of the world; each has words of its own."""
        ...

    def reset(self) -> None:
        """Make it as it was at the beginning."""
        ...


class Control:
    """Books, faults, scripts and the clock over HTTP."""

    def __init__(self, clock: SandboxClock, books: Books, faults: FaultScript, services: Mapping[str, Service]) -> None:
        self._clock = clock
        self._books = books
        self._faults = faults
        self._services = services
        self._routes = Routes(
            ("GET", "/", self._index),
            ("GET", "/books", self._requests),
            ("GET", "/books/paid-runs", self._paid_runs),
            ("GET", "/books/model-calls", self._model_calls),
            ("GET", "/faults", self._waiting),
            ("POST", "/faults", self._add),
            ("DELETE", "/faults", self._clear),
            ("POST", "/faults/release", self._release),
            ("POST", "/scripts/{service}", self._script),
            ("POST", "/advance", self._advance),
            ("POST", "/reset", self._reset),
        )

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Do what is asked; what makes no sense is refused with a reason."""
        try:
            return self._routes.answer(request)
        except NoRoute as error:
            return json_reply({"error": str(error)}, 405 if error.allowed else 404)
        except (ValueError, TypeError) as error:
            return json_reply({"error": str(error)}, 400)

    def reset(self) -> None:
        """Everything as at the beginning: services, books and faults. The clock stays."""
        self._faults.clear()
        for service in self._services.values():
            service.reset()
        self._books.clear()

    def _index(self, _: SandboxRequest) -> SandboxReply:
        return json_reply({"services": sorted(self._services), "now": self._clock.now()})

    def _requests(self, request: SandboxRequest) -> SandboxReply:
        words: dict[str, Any] = {name: request.text(name) for name in ("service", "method") if request.text(name)}
        words |= {name: request.number(name) for name in ("since", "until", "status") if request.text(name)}
        entries = self._books.requests(path=request.text("path", "*"), **words)
        return json_reply({"requests": [asdict(entry) for entry in entries]})

    def _paid_runs(self, request: SandboxRequest) -> SandboxReply:
        runs = self._books.paid_runs(request.text("actor") or None, marker=request.text("marker") or None)
        return json_reply({"paid_runs": [asdict(run) for run in runs]})

    def _model_calls(self, _: SandboxRequest) -> SandboxReply:
        return json_reply({"model_calls": [asdict(call) for call in self._books.model_calls()]})

    def _waiting(self, _: SandboxRequest) -> SandboxReply:
        return json_reply({"faults": [asdict(fault) for fault in self._faults.waiting()]})

    def _add(self, request: SandboxRequest) -> SandboxReply:
        return json_reply(asdict(self._faults.add(**request.json_object())), 201)

    def _clear(self, _: SandboxRequest) -> SandboxReply:
        self._faults.clear()
        return json_reply({"faults": []})

    def _release(self, _: SandboxRequest) -> SandboxReply:
        self._faults.release()
        return json_reply({})

    def _script(self, request: SandboxRequest, service: str) -> SandboxReply:
        if service not in self._services:
            raise BadRequest(f"no service is called {service!r}; there are: {', '.join(sorted(self._services))}")
        self._services[service].script(**request.json_object())
        return json_reply({})

    def _advance(self, request: SandboxRequest) -> SandboxReply:
        seconds = request.json_object().get("seconds")
        if not isinstance(seconds, int | float):
            raise BadRequest("seconds is needed, as a number")
        return json_reply({"now": self._clock.advance(seconds)})

    def _reset(self, _: SandboxRequest) -> SandboxReply:
        self.reset()
        return json_reply({})

"""Which function answers which address."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from haulwright.sandbox.exchange import SandboxReply, SandboxRequest

Handler = Callable[..., SandboxReply]


class NoRoute(LookupError):
    """Nothing lives at this address, or nothing that takes this method (then `allowed` names those that it takes)."""

    def __init__(self, allowed: tuple[str, ...] = ()) -> None:
        super().__init__("no such address" if not allowed else f"only {', '.join(allowed)} here")
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class SandboxRoute:
    """One address with names in braces, and who answers."""

    method: str
    pattern: re.Pattern[str]
    handler: Handler


class Routes:
    """The addresses of a service. The first that fits answers."""

    def __init__(self, *table: tuple[str, str, Handler]) -> None:
        self._table = [SandboxRoute(method, _compiled(pattern), handler) for method, pattern, handler in table]

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """The answer of the function that the address belongs to, called with the names in the address."""
        fitting = [(route, match) for route in self._table if (match := route.pattern.fullmatch(request.path))]
        for route, match in fitting:
            if route.method == request.method or (route.method, request.method) == ("GET", "HEAD"):
                return route.handler(request, **match.groupdict())
        raise NoRoute(tuple(route.method for route, _ in fitting))


def _compiled(pattern: str) -> re.Pattern[str]:
    """`/runs/{run}` takes one piece of the path, `/files/{name:path}` the whole rest."""
    with_rest = re.sub(r"\{(\w+):path\}", r"(?P<\1>.+)", pattern.replace(".", r"\."))
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", with_rest))

"""The login of an application beside which this server runs: it says who sent a request, by its own cookie or header.

It is a function of yours, named by the setting `web_login`: it gets the request and returns a `Principal`, or None
where it knows nobody. What it is asked about came from a browser: what changes something comes from a page of ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from haulwright.api.auth.browser_sessions import require_own_page
from haulwright.api.auth.identity import CallerIdentity
from haulwright.errors import InvalidValue
from haulwright.operations.principal import Principal

if TYPE_CHECKING:
    from starlette.requests import Request

Resolve = Callable[["Request"], Principal | None] | Callable[["Request"], Awaitable[Principal | None]]


class HostLogin:
    """Asks the function that knows."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    async def identify(self, request: Request) -> CallerIdentity | None:
        """Who sent a request; None where nobody is known by it."""
        if inspect.iscoroutinefunction(self._resolve):
            principal = await self._resolve(request)
        else:
            principal = await run_in_threadpool(self._resolve, request)
        if principal is None:
            return None
        if not isinstance(principal, Principal):
            message = f"web_login returned {type(principal).__name__}; it returns a haulwright.Principal, or None."
            raise TypeError(message)
        require_own_page(request)
        return CallerIdentity(principal.name, principal.kind, principal.tenant, is_browser=True)


def host_login_of(spec: str) -> HostLogin:
    """The function that a setting names, such as `shop.login:resolve`."""
    module, _, name = spec.partition(":")
    hint = "Name a function as MODULE:NAME, such as shop.login:resolve_principal."
    try:
        function = getattr(import_module(module), name) if module and name else None
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidValue("web_login", spec, f"cannot be imported: {error}", hint=hint) from error
    if not callable(function):
        raise InvalidValue("web_login", spec, "names no function", hint=hint)
    return HostLogin(function)

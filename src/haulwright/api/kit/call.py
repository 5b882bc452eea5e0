"""One request, as an endpoint sees it: on whose behalf, and what it may do."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote

from fastapi import Depends, Request

from haulwright.api.auth.identity import REASON_HEADER, TENANT_HEADER
from haulwright.api.kit.cursors import Cursors
from haulwright.api.kit.headers import header_of
from haulwright.api.kit.params import LONGEST_REASON_CHARS, NUL
from haulwright.api.kit.problems import Unauthenticated
from haulwright.application.application import application
from haulwright.errors import InvalidValue
from haulwright.operations import Operations
from haulwright.operations.requests import RequestKey

if TYPE_CHECKING:
    from haulwright.api.reception import Reception
    from haulwright.application.application import Application
    from haulwright.client.app import Haulwright
    from haulwright.operations.principal import Principal

KEY_HEADER: Final = b"idempotency-key"
LONGEST_KEY_CHARS: Final = 255
SINGLE: Final = frozenset({KEY_HEADER, TENANT_HEADER, REASON_HEADER})
_PLAIN: Final = re.compile(r"[A-Za-z0-9-]+")
"""A part of a path that is written as it is, as an id."""
UNSAFE: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class ApiCall:
    """What an endpoint has in hand."""

    app: Haulwright
    principal: Principal
    operations: Operations
    request: Request
    key: RequestKey | None
    """Its Idempotency-Key, with what it stands for."""

    @property
    def tenant(self) -> str | None:
        """Whose rows are seen; None is every tenant."""
        return self.principal.tenant

    def because(self, reason: str) -> Operations:
        """The operations with the reason that a body gives; where it gives none, with that of the header."""
        return Operations(self.app, replace(self.principal, reason=reason)) if reason else self.operations

    def cursors(self, *facts: str | None, below: str = "") -> Cursors:
        """The cursors of the list that is asked for, or of one below it: for its route, this tenant and these words."""
        return Cursors(f"{self.request.scope['route'].path}{below}", self.tenant, *facts)

    def application(self, name: str) -> Application:
        """An application of the app, by its name."""
        return application(name, self.app)

    def url_of(self, *parts: str) -> str:
        """An address of the API, as the caller reaches it: `url_of("jobs", job.id)`."""
        prefix = str(self.request.app.openapi_url).rpartition("/")[0]
        path = "/".join(part if _PLAIN.fullmatch(part) else quote(part, safe="") for part in parts)
        return f"{self.request.scope.get('root_path', '')}{prefix}/{path}"


async def call_of(request: Request) -> ApiCall:
    """Prove who calls. Everything else of the request is looked at after this."""
    reception: Reception = request.app.state.reception
    identity = await reception.identify(request)
    if identity is None:
        raise Unauthenticated
    await reception.admit(request, identity)
    query: Mapping[str, str] = request.query_params if request.scope["query_string"] else {}
    _require_known_query(request, query)
    _require_no_nul("path", request.path_params)
    _require_no_nul("query", query)
    _require_single(request)
    reason = (header_of(request.scope, REASON_HEADER) or "")[:LONGEST_REASON_CHARS]
    principal = identity.principal(header_of(request.scope, TENANT_HEADER), reason)
    word = _key_of(request)
    key = None if word is None else RequestKey(word, await _fingerprint(request, principal))
    return ApiCall(reception.app, principal, Operations(reception.app, principal), request, key)


Caller = Annotated[ApiCall, Depends(call_of)]
"""The parameter by which an endpoint asks for its call."""


def _require_single(request: Request) -> None:
    """Refuse a header of ours that is there twice: whoever stands between may have read the other one."""
    names = [name for name, _ in request.scope["headers"] if name in SINGLE]
    if len(names) > len(set(names)):
        why = "is there more than once"
        raise InvalidValue("header", max(names, key=names.count).decode(), why, hint="Send it once.")


def _key_of(request: Request) -> str | None:
    key = header_of(request.scope, KEY_HEADER)
    if key is None:
        return None
    if not 1 <= len(key) <= LONGEST_KEY_CHARS or not key.isascii() or not key.isprintable():
        why = f"is not of 1 to {LONGEST_KEY_CHARS} printable characters"
        raise InvalidValue("Idempotency-Key", key[:LONGEST_KEY_CHARS], why, hint="A UUID is a good one.")
    return key


async def _fingerprint(request: Request, principal: Principal) -> str:
    """What was asked, by whom; who asks the same again gets the same answer."""
    digest = hashlib.sha256(await request.body())
    digest.update(f"\0{request.method}\0{request.url.path}\0{request.url.query}\0{principal.actor}".encode())
    return digest.hexdigest()


def _require_no_nul(where: str, texts: Mapping[str, Any]) -> None:
    """Refuse what no database could compare with anything."""
    for text in texts.values():
        if "\0" in str(text):
            raise InvalidValue(where, text, NUL)


def _require_known_query(request: Request, query: Mapping[str, str]) -> None:
    """A mistyped filter would be no filter: what a route does not know is refused."""
    parameters: frozenset[str] = request.scope["route"].endpoint.query_names
    for name in query:
        if name not in parameters:
            hint = f"This route takes: {', '.join(sorted(parameters)) or 'none'}."
            raise InvalidValue("query", name, "is no parameter of this route", hint=hint)

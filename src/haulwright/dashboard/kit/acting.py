"""For whom staff act: the tenant and the reason that they gave once. A cookie keeps it; the role says what it means."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.api.auth.browser_sessions import SESSION_SECONDS, cookie_name
from haulwright.errors import HaulwrightError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from haulwright.api.auth.identity import CallerIdentity
    from haulwright.operations.principal import Principal, Role

MAY_CHOOSE: Final = frozenset["Role"]({"support", "admin"})


@dataclass(frozen=True, slots=True)
class Acting:
    """The tenant whose rows are to be seen, and why."""

    tenant: str
    reason: str = ""


class TargetRequired(HaulwrightError):
    """Support sees nothing before it has said whose rows it touches, and why."""


def principal_of(identity: CallerIdentity, acting: Acting | None) -> Principal:
    """As whom somebody acts on a page."""
    if identity.role not in MAY_CHOOSE or acting is None:
        if identity.role == "support":
            raise TargetRequired("Support says for whom it acts, and why.")
        return identity.principal()
    return identity.principal(acting.tenant, acting.reason)


def read_acting(request: Request) -> Acting | None:
    """What was chosen; None where nothing was."""
    value = request.cookies.get(_name(request))
    if value is None:
        return None
    try:
        tenant, reason = json.loads(urlsafe_b64decode(value))
    except (ValueError, TypeError, RecursionError):
        return None
    return Acting(tenant, reason) if isinstance(tenant, str) and isinstance(reason, str) and tenant else None


def keep_acting(request: Request, answer: Response, acting: Acting | None) -> None:
    """Have it hold from now on, or no more."""
    path = str(request.scope.get("root_path", "")) or "/"
    if acting is None:
        answer.delete_cookie(_name(request), path=path)
        return
    value = urlsafe_b64encode(json.dumps([acting.tenant, acting.reason]).encode()).decode()
    answer.set_cookie(
        _name(request), value, max_age=SESSION_SECONDS, path=path, httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip


def _name(request: Request) -> str:
    return f"{cookie_name(request.scope)}_acting"

"""What an action has to say on the page that it leads to: told once, by a cookie that only this server writes."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from haulwright.api.auth.browser_sessions import cookie_name

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LONGEST_CHARS: Final = 600
SECONDS: Final = 60

NoticeKind = Literal["done", "refused"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence or two about what was just asked."""

    kind: NoticeKind
    text: str
    hint: str = ""


def _name(request: Request) -> str:
    return f"{cookie_name(request.scope)}_notice"


def leave_notice(request: Request, answer: Response, notice: Notice) -> None:
    """Have the next page say it."""
    words = [notice.kind, notice.text[:LONGEST_CHARS], notice.hint[:LONGEST_CHARS]]
    value = urlsafe_b64encode(json.dumps(words).encode()).decode()
    path = str(request.scope.get("root_path", "")) or "/"
    answer.set_cookie(_name(request), value, max_age=SECONDS, path=path, httponly=True, samesite="strict")


def read_notice(request: Request) -> Notice | None:
    """What is to be said now."""
    value = request.cookies.get(_name(request))
    if value is None:
        return None
    try:
        kind, text, hint = json.loads(urlsafe_b64decode(value))
    except (ValueError, TypeError, RecursionError):
        return None
    if kind not in {"done", "refused"} or not isinstance(text, str) or not isinstance(hint, str):
        return None
    return Notice(kind, text, hint)


def forget_notice(request: Request, answer: Response) -> None:
    """It was said."""
    answer.delete_cookie(_name(request), path=str(request.scope.get("root_path", "")) or "/")

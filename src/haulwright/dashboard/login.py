"""Coming in and going: a token becomes a session, staff say for whom they act, and a session ends."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from haulwright.api.auth.browser_sessions import cookie_name, require_own_page, set_session_cookie
from haulwright.api.reception import LONGEST_CREDENTIAL_CHARS
from haulwright.dashboard.kit.acting import MAY_CHOOSE, Acting, keep_acting, principal_of, read_acting
from haulwright.dashboard.kit.answers import go, html, local_path, prefix_of
from haulwright.dashboard.kit.call import ROOT, Addresses
from haulwright.dashboard.kit.forms import read_form
from haulwright.dashboard.kit.site import ACTING, LOGIN, DashboardSite
from haulwright.errors import Forbidden, HaulwrightError

if TYPE_CHECKING:
    from haulwright.api.reception import Reception

FIRST_PAGE: Final = "/overview"
LOGOUT: Final = "/logout"


class Doors:
    """The pages that stand before all others."""

    def __init__(self, site: DashboardSite) -> None:
        self._site = site

    def routes(self) -> list[BaseRoute]:
        """Login, logout, and for whom one acts."""
        return [
            Route(f"{ROOT}{LOGIN}", self._login, methods=["GET", "POST"]),
            Route(f"{ROOT}{LOGOUT}", self._logout, methods=["POST"]),
            Route(f"{ROOT}{ACTING}", self._acting, methods=["GET", "POST"]),
        ]

    async def _login(self, request: Request) -> Response:
        """Take a token, and keep it here: the browser gets a session in its place."""
        following = _following(request)
        if request.method != "POST":
            return self._login_page(request, following)
        try:
            require_own_page(request)
            form = await read_form(request)
            reception: Reception = request.app.state.reception
            token = form.text("token", most=LONGEST_CREDENTIAL_CHARS)
            secret = await reception.log_in(request, token.removeprefix("Bearer ").strip())
        except HaulwrightError as error:
            return await self._site.refuse(request, error, None, as_json=False)
        if secret is None:
            return self._login_page(request, following, status=HTTPStatus.UNAUTHORIZED)
        answer = go(f"{prefix_of(request)}{ROOT}{following}")
        set_session_cookie(request, answer, secret)
        keep_acting(request, answer, None)
        return answer

    def _login_page(self, request: Request, following: str, *, status: int = HTTPStatus.OK) -> Response:
        addresses = Addresses(prefix_of(request))
        to = addresses.url(LOGIN, next=following)
        is_refused = status != HTTPStatus.OK
        return html(self._site.templates, "login.html", status=status, call=addresses, to=to, is_refused=is_refused)

    async def _logout(self, request: Request) -> Response:
        """End the session."""
        try:
            require_own_page(request)
        except HaulwrightError as error:
            return await self._site.refuse(request, error, None, as_json=False)
        reception: Reception = request.app.state.reception
        reception.sessions.close(request)
        prefix = prefix_of(request)
        answer = go(Addresses(prefix).url(LOGIN))
        answer.delete_cookie(cookie_name(request.scope), path=prefix or "/")
        keep_acting(request, answer, None)
        return answer

    async def _acting(self, request: Request) -> Response:
        """Let staff say whose rows they touch, and why."""
        following, addresses = _following(request), Addresses(prefix_of(request))
        try:
            require_own_page(request)
            identity = await self._site.identify(request)
            if identity.role not in MAY_CHOOSE:
                raise Forbidden("Your role acts for one tenant, or for none.")
            if request.method == "POST":
                form = await read_form(request)
                tenant = form.text("tenant")
                acting = Acting(tenant, form.text("reason")) if tenant else None
                answer = go(f"{addresses.prefix}{ROOT}{following}")
                principal_of(identity, acting)  # refused here, and not on every page from then on
                keep_acting(request, answer, acting)
                return answer
        except HaulwrightError as error:
            return await self._site.refuse(request, error, None, as_json=False)
        return html(
            self._site.templates, "acting.html", call=addresses, to=addresses.url(ACTING, next=following),
            role=identity.role, acting=read_acting(request),
        )  # fmt: skip


def _following(request: Request) -> str:
    """Where to go on; nowhere but to a page of ours."""
    return local_path(request.query_params.get("next", "")) or FIRST_PAGE

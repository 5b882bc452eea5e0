"""The dashboard as routes: who calls, what the page says, how it is drawn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from haulwright.api.auth.browser_sessions import cookie_name, require_own_page
from haulwright.api.kit.params import NUL
from haulwright.api.kit.problems import Unauthenticated, request_id_of
from haulwright.dashboard.kit.acting import TargetRequired, principal_of, read_acting
from haulwright.dashboard.kit.answers import below_root, go, html, json_answer, prefix_of, refusal
from haulwright.dashboard.kit.call import JSON_SUFFIX, ROOT, Addresses, PageCall
from haulwright.dashboard.kit.forms import read_form
from haulwright.dashboard.kit.navigation import NavEntry
from haulwright.dashboard.kit.notices import Notice, forget_notice, leave_notice, read_notice
from haulwright.dashboard.kit.pages import FormAgain
from haulwright.dashboard.kit.templates import environment
from haulwright.errors import HaulwrightError, InvalidValue
from haulwright.operations import Operations
from haulwright.operations.access import VERBS
from haulwright.operations.requests import look

if TYPE_CHECKING:
    from haulwright.api.auth.identity import CallerIdentity
    from haulwright.api.reception import Reception
    from haulwright.dashboard.kit.forms import Form
    from haulwright.dashboard.kit.pages import ActionDone, ActionSpec, PageRoutes, PageSpec
    from haulwright.operations.principal import Principal

Endpoint = Callable[[Request], Awaitable[Response]]

LOGIN: Final = "/login"
ACTING: Final = "/acting"


class DashboardSite:
    """The pages and actions of several nouns, as one."""

    def __init__(self, nouns: Sequence[PageRoutes]) -> None:
        self._pages = [page for noun in nouns for page in noun.pages]
        self._actions = [action for noun in nouns for action in noun.actions]
        self.templates = environment({noun.noun: noun.templates for noun in nouns if noun.templates is not None})

    def routes(self) -> list[BaseRoute]:
        """Those with `.json` first: a name at the end of a path would swallow it."""
        data = [
            Route(f"{ROOT}{page.path}{JSON_SUFFIX}", partial(self._show, page, as_json=True)) for page in self._pages
        ]
        drawn = [
            Route(f"{ROOT}{page.path}", partial(self._show, page, as_json=False))
            for page in self._pages
            if page.template is not None
        ]
        actions = [
            Route(f"{ROOT}{action.path}", partial(self._act, action), methods=["POST"]) for action in self._actions
        ]
        return [*data, *drawn, *actions]

    async def identify(self, request: Request) -> CallerIdentity:
        """Who calls. A visitor who shows nothing yet is no failed attempt."""
        reception: Reception = request.app.state.reception
        shows = "authorization" in request.headers or cookie_name(request.scope) in request.cookies
        if not shows and reception.host_login is None:
            raise Unauthenticated
        identity = await reception.identify(request)
        if identity is None:
            raise Unauthenticated
        await reception.admit(request, identity)
        return identity

    async def call_of(self, request: Request, path: str) -> PageCall:
        """The call of a request, on behalf of whoever sent it."""
        reception: Reception = request.app.state.reception
        identity = await self.identify(request)
        principal = principal_of(identity, read_acting(request))
        location = str(request.scope["path"]).removeprefix(prefix_of(request)).removeprefix(ROOT)
        return PageCall(
            prefix=prefix_of(request),
            app=reception.app,
            principal=principal,
            operations=Operations(reception.app, principal),
            route=path,
            location=location.removesuffix(JSON_SUFFIX),
            path=dict(request.path_params),
            query=dict(request.query_params),
            request_id=request_id_of(request),
            is_logged_in=identity.is_browser,
            notice=read_notice(request),
            navigation=self._navigation(prefix_of(request), principal, path),
        )

    async def _show(self, page: PageSpec, request: Request, *, as_json: bool) -> Response:
        call: PageCall | None = None
        try:
            call = await self.call_of(request, page.path)
            _require_words(call, page)
            return await run_in_threadpool(self._draw, page, call, request, as_json=as_json)
        except Exception as error:  # noqa: BLE001 - every one is answered
            return await self.refuse(request, error, call, as_json=as_json)

    def _draw(self, page: PageSpec, call: PageCall, request: Request, *, as_json: bool) -> Response:
        def work() -> Response:
            shown = page.function(call)
            if as_json or page.template is None:
                return json_answer(shown)
            return html(self.templates, page.template, page=shown, call=call, title=page.title)

        answer = look(call.app, call.principal, work, request_id=call.request_id)
        if call.notice is not None and not as_json:
            forget_notice(request, answer)
        return answer

    async def _act(self, action: ActionSpec, request: Request) -> Response:
        call: PageCall | None = None
        back: str | None = None
        try:
            require_own_page(request)
            call = await self.call_of(request, action.path)
            form = await read_form(request)
            back = below_root(call.prefix, form.text("back", most=4000))
            work = partial(self._do, action, call, form)
            done = await run_in_threadpool(look, call.app, call.principal, work, request_id=call.request_id)
        except HaulwrightError as error:
            if call is None or back is None:
                return await self.refuse(request, error, call, as_json=False)
            answer = go(f"{call.prefix}{ROOT}{back}")
            leave_notice(request, answer, Notice("refused", error.message, error.hint))
            return answer
        except Exception as error:  # noqa: BLE001 - every one is answered
            return await self.refuse(request, error, call, as_json=False)
        if isinstance(done, Response):
            return done
        answer = go(done.to)
        leave_notice(request, answer, Notice("done", done.text))
        return answer

    def _do(self, action: ActionSpec, call: PageCall, form: Form) -> ActionDone | Response:
        done = action.function(call, form)
        if isinstance(done, FormAgain):
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            return html(self.templates, done.template, status=status, page=done.page, call=call, title=done.title)
        return done

    async def refuse(self, request: Request, error: Exception, call: PageCall | None, *, as_json: bool) -> Response:
        """Answer a request that failed: somebody unknown goes to the login first, and comes back then."""
        if not as_json and isinstance(error, Unauthenticated | TargetRequired):
            return self._to_door(request, LOGIN if isinstance(error, Unauthenticated) else ACTING)
        return await refusal(request, self.templates, error, call=call, as_json=as_json)

    def _to_door(self, request: Request, door: str) -> Response:
        """To the page that must come first.

        A browser that follows a link from elsewhere leaves the session behind: asked once more by a page of ours, it
        sends it.
        """
        addresses = Addresses(prefix_of(request))
        if "hx-request" in request.headers:
            return Response(status_code=401, headers={"HX-Refresh": "true"})
        if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
            return html(self.templates, "again.html", call=addresses, url=_own_url(request))
        path = below_root(addresses.prefix, _own_url(request)) if request.method == "GET" else None
        return go(addresses.url(door, next=path))

    def _navigation(self, prefix: str, principal: Principal, path: str) -> tuple[NavEntry, ...]:
        addresses = Addresses(prefix)
        return tuple(
            NavEntry(
                page.nav.label, page.nav.key, page.nav.group, addresses.url(page.path), number, _is_at(page.path, path)
            )
            for number, page in enumerate(self._pages)
            if page.nav is not None and (page.verb is None or principal.kind in VERBS[page.verb])
        )


def _own_url(request: Request) -> str:
    query = request.url.query
    return str(request.scope["path"]) + (f"?{query}" if query else "")


def _is_at(entry: str, path: str) -> bool:
    return path == entry or path.startswith(f"{entry}/")


def _require_words(call: PageCall, page: PageSpec) -> None:
    """A mistyped filter would be no filter: what a page does not know is refused."""
    for name, value in call.query.items():
        if name not in page.query:
            hint = f"This page takes: {', '.join(sorted(page.query)) or 'none'}."
            raise InvalidValue("query", name, "is no word of this page's address", hint=hint)
        if "\0" in value:
            raise InvalidValue(name, value, NUL)
    for name, part in call.path.items():
        if "\0" in part:
            raise InvalidValue(name, part, NUL)

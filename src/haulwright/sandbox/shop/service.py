"""Shops behind their addresses."""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import urlencode

from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import BadRequest, SandboxReply, SandboxRequest, json_reply, text_reply
from haulwright.sandbox.routes import NoRoute, Routes
from haulwright.sandbox.shop import pages
from haulwright.sandbox.shop.catalogue import SHOPS, Piece, pieces
from haulwright.sandbox.shop.limits import Limit

PAGE = 20
LAYOUTS = ("v1", "v2")
ROBOTS = "User-agent: *\nDisallow: /shop/*/private\nCrawl-delay: 1\n"


class ShopSandbox:
    """All shops, as they stand now."""

    def __init__(self, clock: SandboxClock, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._lock = threading.Lock()
        self.reset()
        self._routes = Routes(
            ("GET", "/robots.txt", lambda _: text_reply(ROBOTS)),
            ("GET", "/{shop}/robots.txt", lambda _, shop: text_reply(ROBOTS)),  # noqa: ARG005 - the same for all
            ("GET", "/{shop}/coins", self._listing),
            ("GET", "/{shop}/items/{item}", self._detail),
            ("GET", "/{shop}/api/listings", self._documents),
            ("GET", "/{shop}/private", lambda _, shop: text_reply(f"Not for robots, says {shop}.\n")),
        )

    def reset(self) -> None:
        """The old layout everywhere, and the usual limits."""
        self._layouts = dict.fromkeys(SHOPS, "v1")
        self._limits = {name: Limit() for name in SHOPS}

    def script(self, *, shop: str, layout: str = "", limit: dict[str, Any] | None = None) -> None:
        """Change the layout of a shop, or its limit (`count`, `seconds`, `form`)."""
        if shop not in SHOPS:
            raise ValueError(f"no shop is called {shop!r}; there are: {', '.join(SHOPS)}")
        if layout and layout not in LAYOUTS:
            raise ValueError(f"no layout is called {layout!r}; there are: {', '.join(LAYOUTS)}")
        with self._lock:
            self._layouts[shop] = layout or self._layouts[shop]
            if limit is not None:
                self._limits[shop] = Limit(**limit)

    def pieces(self, shop: str) -> list[Piece]:
        """What a shop shows now: the truth behind its pages."""
        return list(pieces(self._seed, SHOPS[shop], self._clock.now()))

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out, if the shop's limit allows."""
        name = request.path.removeprefix("/").partition("/")[0]
        try:
            if name not in SHOPS or request.path.endswith("/robots.txt"):
                return self._routes.answer(request)
            with self._lock:
                limit, now = self._limits[name], self._clock.now()
                if not limit.take(now):
                    return limit.refusal(now)
                headers = limit.tell(SandboxReply(), now).headers
            return self._routes.answer(request).with_headers(*headers)
        except NoRoute as error:
            return text_reply(f"{error}\n", status=405 if error.allowed else 404)
        except BadRequest as error:
            return text_reply(f"{error}\n", status=400)

    def _listing(self, request: SandboxRequest, shop: str) -> SandboxReply:
        pieces, following = self._page(request, shop, "coins")
        text = pages.listing(SHOPS[shop], pieces, f"{request.base}/{shop}", following, self._layout(request, shop))
        return text_reply(text, "text/html")

    def _documents(self, request: SandboxRequest, shop: str) -> SandboxReply:
        pieces, following = self._page(request, shop, "api/listings")
        base = f"{request.base}/{shop}"
        return json_reply(
            {"listings": [pages.document(SHOPS[shop], piece, base) for piece in pieces], "next": following}
        )

    def _detail(self, request: SandboxRequest, shop: str, item: str) -> SandboxReply:
        for piece in self._of(shop):
            if piece.id == item:
                return text_reply(pages.detail(SHOPS[shop], piece, self._layout(request, shop)), "text/html")
        raise NoRoute

    def _page(self, request: SandboxRequest, shop: str, path: str) -> tuple[list[Piece], str | None]:
        """The pieces of the page that was asked for, and the address of the next."""
        number, words = max(1, request.whole("page", 1)), request.text("q").lower()
        pieces = [piece for piece in self._of(shop) if words in piece.title.lower()]
        start = (number - 1) * PAGE
        query = {"page": number + 1, **({"q": words} if words else {})}
        more = start + PAGE < len(pieces)
        return pieces[start : start + PAGE], f"{request.base}/{shop}/{path}?{urlencode(query)}" if more else None

    def _of(self, shop: str) -> list[Piece]:
        if shop not in SHOPS:
            raise NoRoute
        return self.pieces(shop)

    def _layout(self, request: SandboxRequest, shop: str) -> str:
        return request.text("layout") if request.text("layout") in LAYOUTS else self._layouts[shop]

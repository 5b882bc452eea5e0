"""A person at the dashboard, without a browser: a session, pages as trees of elements, forms sent as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx2
from selectolax.lexbor import LexborHTMLParser, LexborNode

from haulwright import Haulwright
from haulwright.dashboard.site import dashboard
from tests.support.api import NO_CERTIFICATES, Served, serving

OWN = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Page:
    """A page that came."""

    answer: httpx2.Response

    @property
    def tree(self) -> LexborHTMLParser:
        """Its elements."""
        return LexborHTMLParser(self.answer.text)

    @property
    def text(self) -> str:
        """What a person reads of it."""
        body = self.tree.css_first("main")
        return " ".join(body.text().split()) if body is not None else ""

    @property
    def notice(self) -> str:
        """What it says of the action that led here."""
        return " ".join(" ".join(notice.text().split()) for notice in self.all(".notice"))

    @property
    def path(self) -> str:
        """Where it is, after all redirects."""
        return self.answer.request.url.raw_path.decode()

    def all(self, selector: str) -> list[LexborNode]:
        """Elements by a CSS selector."""
        return self.tree.css(selector)

    def form(self, ending: str) -> dict[str, str]:
        """The fields of the form whose address ends so, as they stand."""
        for form in self.all("form"):
            if (form.attributes.get("action") or "").endswith(ending):
                fields = form.css("input[name], textarea[name], select[name]")
                return {str(field.attributes["name"]): field.attributes.get("value") or "" for field in fields}
        message = f"no form for {ending} in {[form.attributes.get('action') for form in self.all('form')]}"
        raise AssertionError(message)


class Person:
    """Somebody with a browser that keeps cookies and obeys redirects, and runs no scripts."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.client = httpx2.Client(
            base_url=served.address, timeout=60, verify=NO_CERTIFICATES, follow_redirects=True, headers=OWN
        )
        served.clients.append(self.client)

    def open(self, path: str, **options: Any) -> Page:
        """Go to a page."""
        return Page(self.client.get(path, **options))

    def send(self, path: str, fields: dict[str, str], **headers: str) -> Page:
        """Send a form."""
        return Page(self.client.post(path, data=fields, headers=headers))

    def submit(self, page: Page, ending: str, **fields: str) -> Page:
        """Fill in a form of a page and send it."""
        for form in page.all("form"):
            action = form.attributes.get("action") or ""
            if action.endswith(ending):
                url = urljoin(str(page.answer.request.url), action)
                return self.send(url, {**page.form(ending), **fields})
        raise AssertionError(page.form(ending))

    def log_in(self, role: str = "admin", tenant: str | None = None) -> Person:
        """Come in with a new token of a role."""
        new = self._served.app.operations().tokens.create(f"test-{role}", role=role, tenant=tenant)
        page = self.open(f"{self._served.root}/ui/login")
        self.submit(page, page.all("form")[0].attributes["action"] or "", token=new.token)
        if role == "support":
            self.send(f"{self._served.root}/ui/acting", {"tenant": tenant or "acme", "reason": "ticket 7"})
        return self


@contextmanager
def people(app: Haulwright, **options: Any) -> Iterator[Served]:
    """An app behind its API and its dashboard."""
    with serving(app, neighbour=dashboard(app), **options) as served:
        yield served

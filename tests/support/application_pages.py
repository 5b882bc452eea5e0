"""What the pages of every application keep to, for the tests of each."""

from __future__ import annotations

import re

from tests.support.api import Served
from tests.support.dashboard import Page, Person

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> {{ 7*7 }} \u202egnp.exe\u202c 😀 =SUM(1+1)"
"""What somebody may put into any text that they send."""


def require_roles(served: Served, paths: list[str], tenant: str = "acme") -> None:
    """Each page opens for whoever may read, as a page and as JSON, and for nobody else."""
    for role in ("tenant", "support", "admin", "monitor"):
        person = Person(served).log_in(role, tenant if role in {"tenant", "support"} else None)
        for path in paths:
            where, _, query = path.partition("?")
            words = [f"tenant={tenant}"] * (role == "admin") + [query] * bool(query)
            asked = "&".join(words)
            for address in (f"{where}?{asked}", f"{where}.json?{asked}"):
                page = person.open(address)
                expected = 403 if role == "monitor" else 200
                assert page.answer.status_code == expected, f"{role} at {address}: {page.text or page.answer.text}"
                kind = "application/json" if ".json?" in address else "text/html; charset=utf-8"
                assert role == "monitor" or page.answer.headers["content-type"] == kind


def require_same_absence(served: Served, path: str, foreign: str, absent: str, *, stranger: str = "globex") -> None:
    """What is another tenant's looks exactly like what is not there, and who names that tenant sees no more."""
    person = Person(served).log_in("tenant", stranger)
    for form in (path, f"{path}.json"):
        texts = []
        for name in (foreign, absent):
            page = person.open(form.format(name))
            assert (form, page.answer.status_code) == (form, 404)
            text = re.sub(r"request [\w-]+|\"request_id\":\s*\"[^\"]*\"|data-now=\"[^\"]*\"", "", page.answer.text)
            texts.append(text.replace(name, "NAME"))
        assert texts[0] == texts[1]
        assert person.open(f"{form.format(foreign)}?tenant=acme").answer.status_code == 403


def require_text_only(page: Page) -> None:
    """Whatever somebody wrote is text: nothing of it became an element, and no character turns a line around."""
    assert page.answer.status_code == 200, page.text
    assert [script for script in page.all("script") if script.text()] == []
    assert page.all("main img") == []
    assert "alert(1)" in page.text
    assert "\u202e" not in page.answer.text
    assert page.all("style") == []
    names = {name for element in page.all("*") for name in element.attributes}
    assert {name for name in names if name.startswith(("on", "hx-on")) or name == "style"} == set()
    addresses = [str(link.attributes.get("href")) for link in page.all("a[href]")]
    assert [address for address in addresses if not address.startswith(("/", "#", "http://", "https://"))] == []


def notice(page: Page) -> str:
    """What an action has to say on the page that it led to."""
    node = page.tree.css_first(".notice")
    return "" if node is None else " ".join(node.text().split())

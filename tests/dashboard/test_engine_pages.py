"""What the pages of the engine's nouns keep to, whoever opens them: rights, data as JSON, nothing inline, addresses."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from haulwright.dashboard.kit.answers import POLICY
from haulwright.engine.source import source_limits
from haulwright.operations.principal import Principal
from tests.support.dashboard import Person, people

EVERYBODY = ("tenant", "support", "admin", "monitor")
STAFF = ("support", "admin", "monitor")
PEOPLE = ("tenant", "support", "admin")
OWNERS = ("admin", "monitor")
PAGES = {
    "/ui/errors": PEOPLE,
    "/ui/errors/requeue?task=fail&error_class=RuntimeError&error_code=RuntimeError": PEOPLE,
    "/ui/queues": EVERYBODY,
    "/ui/queues/slow%20lane": EVERYBODY,
    "/ui/workers": STAFF,
    "/ui/workers?all=1": STAFF,
    "/ui/sources": STAFF,
    "/ui/sources/shop%2Fprices": STAFF,
    "/ui/tasks": PEOPLE,
    "/ui/tasks/greet": PEOPLE,
    "/ui/audit": PEOPLE,
    "/ui/audit?name=queue.paused": PEOPLE,
    "/ui/doctor": OWNERS,
    "/ui/settings": ("admin",),
    "/ui/schedules": PEOPLE,
    "/ui/schedules/hourly%2Fberlin": PEOPLE,
    "/ui/schedules/hourly%2Fberlin/backfill": PEOPLE,
    "/ui/schedules/hourly%2Fberlin/backfill?first=2026-05-01T00:00&last=2026-05-01T05:00": PEOPLE,
}
"""Every page, with the roles that may see it."""
HOSTILE_NAME = '"><img src=x onerror=alert(1)>/%2e{{7*7}} #?& 😀 مرحبا'
"""What may be a name: it can be printed."""
HOSTILE_TEXT = f"{HOSTILE_NAME} <b><i>\x1b[2J\u202e\r\n{'x' * 100_000}"


@pytest.fixture
def app(app):
    """With what stands in the code beside its tasks."""
    app.schedule("hourly/berlin", "0 * * * *", app.tasks["add"], args={"a": 1}, tz="Europe/Berlin", tenant="acme")
    return app


def fill(app):
    """Something to see on each page that has a list."""
    jobs = app.operations().jobs
    jobs.enqueue("fail", {"why": "the shelf is empty"}, tenant="acme")
    app.run_worker(until_empty=True)
    jobs.enqueue("add", {"a": 1}, tenant="acme", queue="slow lane")


@pytest.fixture(autouse=True)
def shop(served):
    """A source, which is there from its first request on."""
    served.app.store.sources.declare("shop/prices", source_limits(rate="30/min", concurrency=2, budget=5000))


def test_each_page_answers_each_role_as_its_rights_say_empty_or_not(served):
    """A link in the navigation leads nowhere that is refused, and a refusal is an event."""
    persons = {
        role: Person(served).log_in(role, "acme" if role in {"tenant", "support"} else None) for role in EVERYBODY
    }
    for is_filled in (False, True):
        if is_filled:
            fill(served.app)
        for role, person in persons.items():
            for path, roles in PAGES.items():
                expected = 200 if role in roles else 403
                assert (role, path, person.open(path).answer.status_code) == (role, path, expected)
            for link in person.open("/ui/overview").all(".top nav a"):
                assert person.open(link.attributes["href"]).answer.status_code == 200
    refused = served.app.operations().events.page(name="request.refused", limit=500).rows
    assert {"dead.read", "worker.read", "source.read", "health.read", "settings.read"} <= {
        event.data["verb"] for event in refused
    }


def test_each_page_is_there_as_json(served, admin):
    fill(served.app)
    for path in PAGES:
        where, _, query = path.partition("?")
        data = admin.open(f"{where}.json?{query}".rstrip("?")).answer
        assert (path, data.status_code, data.headers["content-type"]) == (path, 200, "application/json")
        (link,) = [link for link in admin.open(path).all("a") if link.text() == "This page as JSON"]
        assert admin.open(link.attributes["href"]).answer.json().keys() == data.json().keys()


def test_no_page_has_anything_inline(served, admin):
    fill(served.app)
    for path in PAGES:
        page = admin.open(path)
        assert page.answer.headers["content-security-policy"] == POLICY
        assert all(script.attributes.get("src") and not script.text() for script in page.all("script"))
        names = {name for element in page.all("*") for name in element.attributes}
        assert {name for name in names if name.startswith(("on", "hx-on")) or name == "style"} == set()
        ids = [element.attributes["id"] for element in page.all("[id]")]
        assert len(ids) == len(set(ids))
        for field in page.all("main input:not([type=hidden]), main select, main textarea"):
            labelled = field.attributes.get("id"), field.attributes.get("aria-label")
            assert field.parent.tag == "label" or page.all(f'label[for="{labelled[0]}"]') or labelled[1]


def test_behind_a_proxy_with_a_prefix_every_address_has_it(served):
    with people(served.app, root_path="/tools/jobs") as proxied:
        fill(served.app)
        person = Person(proxied)
        token = served.app.operations().tokens.create("t", role="admin", tenant=None).token
        landed = person.client.post("/ui/login", data={"token": token}, follow_redirects=False)
        cookie = landed.headers.get_list("set-cookie")[0].partition(";")[0]
        for path in PAGES:
            page = person.open(path, headers={"Cookie": cookie})
            assert (path, page.answer.status_code) == (path, 200)
            links = [*page.all("a[href]"), *page.all("link[href]"), *page.all("script[src]"), *page.all("form[action]")]
            addresses = {
                str(link.attributes.get("href") or link.attributes.get("src") or link.attributes.get("action"))
                for link in links
            }
            assert {address for address in addresses if not address.startswith(("/tools/jobs/", "#"))} == set()


def test_every_link_leads_somewhere_and_hostile_text_is_text(served, admin):
    app, operations = served.app, served.app.operations(Principal.admin("root", HOSTILE_TEXT[:500]))

    @app.task(name=HOSTILE_NAME, retry=1, queue=HOSTILE_NAME)
    def fail(text: str) -> None:
        """<b>Fail</b>."""
        raise RuntimeError(text)

    job = operations.jobs.enqueue(HOSTILE_NAME, {"text": HOSTILE_TEXT}, tenant=HOSTILE_NAME)
    app.run_worker(until_empty=True, queues=[HOSTILE_NAME])
    operations.jobs.enqueue(HOSTILE_NAME, {"text": HOSTILE_TEXT}, tenant=HOSTILE_NAME)
    operations.queues.pause(HOSTILE_NAME)
    app.store.sources.declare(HOSTILE_NAME, source_limits(rate="30/min"))
    operations.sources.pause(HOSTILE_NAME)
    app.schedule(HOSTILE_NAME, "0 * * * *", app.tasks[HOSTILE_NAME], args={"text": HOSTILE_TEXT}, tenant=HOSTILE_NAME)
    operations.schedules.pause(HOSTILE_NAME)
    operations.schedules.trigger(HOSTILE_NAME, 1_777_600_000_000_000)
    names = ("errors", "queues", "workers?all=1", "schedules", "sources", "audit", "doctor", "tasks")
    waiting = [*(f"/ui/{name}" for name in names), f"/ui/tasks/{quote(HOSTILE_NAME)}?job={job.id}"]
    seen = set()
    while waiting:
        path = waiting.pop()
        page = admin.open(path)
        assert (path, page.answer.status_code) == (path, 200)
        assert [page.all(tag) for tag in ("main img", "main script", "main b i")] == [[], [], []]
        assert not {"\x1b", "\u202e"} & set(page.answer.text)
        assert len(page.answer.text) < 2_000_000
        seen.add(path)
        links = {str(link.attributes["href"]) for link in page.all("main a[href^='/ui/']")}
        waiting += [link for link in links if link not in seen and link not in waiting and "/ui/jobs" not in link]
    for noun in ("queues", "schedules", "sources", "tasks", "errors/requeue?"):
        assert any(f"/ui/{noun}" in path and quote(HOSTILE_NAME, safe="")[:10] in path for path in seen)

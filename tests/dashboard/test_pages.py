"""What every page keeps to, whoever opens it and on either database."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from haulwright.dashboard.kit.answers import POLICY
from haulwright.dashboard.kit.assets import FOREVER
from haulwright.dashboard.kit.site import DashboardSite
from haulwright.dashboard.site import ENGINE_PAGES
from haulwright.engine.source import source_limits
from tests.support.dashboard import Person, people
from tools.vendor import FOR_TESTS, SHIPPED, differences

DASHBOARD = Path(__file__).resolve().parents[2] / "src" / "haulwright" / "dashboard"
ROLES = ("tenant", "support", "admin", "monitor")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)> '{{ 7*7 }} {% raw %}",
    "\x1b[2J\x07 \u202egnp.exe\u202c \u2028 \r\n\t",
    '=HYPERLINK("http://evil.example") @SUM(1+1) | cmd',
    "😀 🏴‍☠️ مرحبا بالعالم e\u0301",
    "x" * 100_000,
)
"""What somebody may put into any text that they send."""
STRANGE_NAME = 'slow "lane", <b>\\ state:dead'
"""What may be the name of a queue or a task, and would break a filter that is put together by hand."""
MISSING = "01a1f5df-d221-7258-b942-420a6c6d2c35"


@pytest.fixture
def a_job(app):
    """One that failed, with effects of another beside it."""
    operations = app.operations()
    operations.jobs.enqueue("greet", {"name": "ada"}, tenant="acme")
    job = operations.jobs.enqueue("fail", {"why": "the shelf is empty"}, tenant="acme")
    app.run_worker(until_empty=True)
    return job.id


def paths_for(job_id):
    return ["/ui/overview", "/ui/jobs", "/ui/jobs?q=state:dead", f"/ui/jobs/{job_id}"]


def test_each_page_answers_each_role_as_its_rights_say(served, a_job):
    for role in ROLES:
        person = Person(served).log_in(role, "acme" if role in {"tenant", "support"} else None)
        for path in paths_for(a_job):
            expected = 403 if role == "monitor" and "jobs" in path else 200
            assert (role, path, person.open(path).answer.status_code) == (role, path, expected)


def test_each_page_is_there_as_json_with_the_same_data(admin, a_job):
    for path in paths_for(a_job):
        where, _, query = path.partition("?")
        data = admin.open(f"{where}.json?{query}".rstrip("?")).answer
        assert data.headers["content-type"] == "application/json"
        assert isinstance(data.json(), dict)
    shown = admin.open(f"/ui/jobs/{a_job}.json").answer.json()
    assert shown["job"] == {**admin.client.get(f"/api/v1/jobs/{a_job}/detail").json(), "events_next": None}
    assert admin.open("/ui/jobs.json").answer.json()["jobs"][0]["id"] == a_job
    (link,) = [link for link in admin.open("/ui/jobs?q=state:dead").all("a") if link.text() == "This page as JSON"]
    assert link.attributes["href"] == "/ui/jobs.json?q=state%3Adead"


def test_every_page_comes_under_a_strict_policy_and_has_nothing_inline(admin, a_job):
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY
    for path in [*paths_for(a_job), "/ui/login", "/ui/acting", "/ui/nothing", "/ui/jobs?q=stat:x"]:
        page = admin.open(path)
        assert page.answer.headers["content-security-policy"] == POLICY
        assert page.answer.headers["x-content-type-options"] == "nosniff"
        assert page.answer.headers["cache-control"] == "no-store"
        assert all(script.attributes.get("src") and not script.text() for script in page.all("script"))
        assert page.all("style") == []
        names = {name for element in page.all("*") for name in element.attributes}
        assert {name for name in names if name.startswith(("on", "hx-on")) or name == "style"} == set()


def test_templates_open_no_way_for_markup_or_code():
    for template in DASHBOARD.rglob("templates/*.html"):
        text = template.read_text()
        found = re.findall(r"\|\s*safe\b|autoescape|style=|\bon\w+=|hx-on|javascript:|\bjs:|hx-vals|hx-headers", text)
        assert (template.name, found) == (template.name, [])


def test_hostile_text_is_text(served, admin):
    jobs = served.app.operations().jobs
    for text in HOSTILE:
        tag = "".join(letter for letter in text[:60] if letter.isprintable())
        job = jobs.enqueue("fail", {"why": text}, tenant="acme", correlation_id=tag, tags=[tag])
        served.app.run_worker(until_empty=True)
        for path in (f"/ui/jobs/{job.id}", "/ui/jobs", "/ui/overview"):
            page = admin.open(path)
            assert page.answer.status_code == 200
            assert [script for script in page.all("script") if not script.attributes.get("src")] == []
            assert page.all("main img") == []
            assert "\x1b" not in page.answer.text
            assert "\u202e" not in page.answer.text
            assert len(page.answer.text) < 2_000_000
        stored = admin.open(f"/ui/jobs/{job.id}.json").answer.json()
        assert stored["job"]["args"] == {"why": text}


def test_a_job_of_somebody_else_looks_exactly_like_one_that_is_not_there(served, a_job):
    stranger = Person(served).log_in("tenant", "globex")
    for path in ("/ui/jobs/{}", "/ui/jobs/{}.json"):
        texts = []
        for job_id in (a_job, MISSING):
            page = stranger.open(path.format(job_id))
            assert page.answer.status_code == 404
            text = re.sub(r"request [\w-]+|\"request_id\":\s*\"[^\"]*\"", "", page.answer.text)
            texts.append(re.sub(r'data-now="[^"]*"', "", text.replace(job_id, "ID")))
        assert texts[0] == texts[1]
    assert a_job not in stranger.open("/ui/jobs").answer.text
    assert a_job not in stranger.open("/ui/overview").answer.text


def test_behind_a_proxy_with_a_prefix_every_address_has_it(app):
    with people(app, root_path="/tools/jobs") as served:
        job = app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme")
        person = Person(served)
        person.client.base_url = served.address
        new = app.operations().tokens.create("t", role="admin", tenant=None)
        landed = person.client.post("/ui/login?next=/jobs", data={"token": new.token}, follow_redirects=False)
        assert landed.headers["location"] == "/tools/jobs/ui/jobs"
        for path in ("/ui/overview", "/ui/jobs", f"/ui/jobs/{job.id}"):
            # the proxy takes the prefix away; the cookie is kept to it, so it is shown by hand
            cookie = landed.headers.get_list("set-cookie")[0].partition(";")[0]
            page = person.open(path, headers={"Cookie": cookie})
            assert page.answer.status_code == 200
            links = [*page.all("a[href]"), *page.all("link[href]"), *page.all("script[src]"), *page.all("form[action]")]
            addresses = {
                str(link.attributes.get("href") or link.attributes.get("src") or link.attributes.get("action"))
                for link in links
            }
            assert {address for address in addresses if not address.startswith(("/tools/jobs/", "#"))} == set()


def test_an_empty_page_says_what_to_type(admin):
    assert "haulwright -A shop:app run hello" in admin.open("/ui/jobs").text
    assert "No job matches" in admin.open("/ui/jobs?q=state:dead").text
    assert "No queue has a job in it" in admin.open("/ui/overview").text


def test_a_word_that_the_page_does_not_know_is_refused(admin):
    page = admin.open("/ui/jobs?sate=dead")

    assert page.answer.status_code == 422
    assert "This page takes: cursor, limit, q, trail." in page.text


def test_an_address_that_is_none_is_told_to_people_and_to_programs(admin):
    assert "There is nothing at this address" in admin.open("/ui/nothing").text
    assert admin.client.get("/api/v1/nothing").json()["code"] == "not_found"


def test_pages_follow_one_another_in_both_directions(served, admin):
    jobs = served.app.operations().jobs
    ids = [jobs.enqueue("add", {"a": number}, tenant="acme").id for number in range(7)][::-1]

    def shown(page):
        return [row.attributes["id"].removeprefix("job-") for row in page.all("tr[data-row]")]

    def turn(page, rel):
        (link,) = page.all(f"a[rel={rel}]")
        return admin.open(link.attributes["href"])

    first = admin.open("/ui/jobs?q=task:add&limit=3")
    second = turn(first, "next")
    third = turn(second, "next")
    assert [shown(first), shown(second), shown(third)] == [ids[:3], ids[3:6], ids[6:]]
    assert shown(turn(third, "prev")) == ids[3:6]
    assert shown(turn(turn(third, "prev"), "prev")) == ids[:3]
    assert third.all("a[rel=next]") == []
    strange = second.path.replace("task%3Aadd", "task%3Afail")
    assert admin.open(strange).answer.status_code == 422


def test_a_filter_that_cannot_be_is_told_below_its_word(admin):
    page = admin.open("/ui/jobs?q=task:add+stat:dead+age:>2h")

    (mark,) = page.all(".wrong mark")
    assert mark.text() == "stat"
    assert "is no field to filter by" in page.text
    assert "Did you mean state?" in page.text
    assert page.all("input[name=q]")[0].attributes["value"] == "task:add stat:dead age:>2h"


def test_another_state_is_one_click_away_and_the_rest_of_the_filter_stays(admin):
    page = admin.open('/ui/jobs?q=task:add+state:queued+"two words"')

    links = {link.text().strip("○↻◐●✕⊘▷"): link.attributes["href"] for link in page.all(".states a")}
    assert links["dead"] == "/ui/jobs?q=state%3Adead+task%3Aadd+%22two+words%22"
    assert links["all"] == "/ui/jobs?q=task%3Aadd+%22two+words%22"
    assert [link.text()[1:] for link in page.all(".states a[aria-current]")] == ["queued"]


def test_static_files_are_what_their_manifest_says_and_are_kept_for_ever(admin):
    assert differences(SHIPPED) == []
    assert differences(FOR_TESTS) == []
    page = admin.open("/ui/overview")
    for address in [*page.all("script[src]"), *page.all("link[href]")]:
        answer = admin.client.get(str(address.attributes.get("src") or address.attributes.get("href")))
        assert (answer.status_code, answer.headers["cache-control"]) == (200, FOREVER)
    for wrong in ("/ui/static/0/dashboard.css", "/ui/static/0/../site.py", "/ui/static/0/MANIFEST.json"):
        assert admin.client.get(wrong).headers["cache-control"] == "no-store"


def test_vendored_files_name_no_other_place_to_load_from():
    for file in SHIPPED.glob("*.js"):
        assert "sourceMappingURL" not in file.read_text()


def test_every_page_of_the_engine_says_what_it_is():
    for page in DashboardSite(ENGINE_PAGES)._pages:
        assert page.function.__doc__
        assert page.template is None or (DASHBOARD / "templates" / page.template).is_file()


def test_the_overview_names_what_needs_somebody_and_leads_to_it(served, admin):
    operations = served.app.operations()
    operations.jobs.enqueue("fail", {"why": "the shelf is empty"}, tenant="acme")
    served.app.run_worker(until_empty=True)
    operations.jobs.enqueue("add", {"a": 1}, tenant="acme", queue="slow lane")
    operations.queues.pause("closed/lane")
    served.app.store.sources.declare("shop/prices", source_limits(rate="30/min"))
    operations.sources.pause("shop/prices")

    page = admin.open("/ui/overview")

    assert "The queue slow lane has 1 due job and no live worker" in page.text
    titles = {}
    for link in page.all(".concerns a"):
        listed = admin.open(link.attributes["href"])
        titles[listed.path] = listed.all("h1")[0].text()
    assert titles == {
        "/ui/queues/slow%20lane": "slow lane",
        "/ui/queues/closed%2Flane": "closed/lane",
        "/ui/sources/shop%2Fprices": "shop/prices",
        "/ui/errors": "Errors",
    }
    for role in ("monitor", "tenant"):
        other = Person(served).log_in(role, "acme" if role == "tenant" else None)
        for link in other.open("/ui/overview").all("main a"):
            assert other.open(link.attributes["href"]).answer.status_code == 200


def test_the_job_says_what_happened_to_it_line_by_line(admin, a_job):
    text = admin.open(f"/ui/jobs/{a_job}").text

    assert "the shelf is empty" in text
    assert "RuntimeError" in text
    assert re.search(r"conftest\.py:\d+ in \S*fail", text)
    assert "dead lettered" in text
    assert f"haulwright job show {a_job}" in text


@pytest.mark.usefixtures("a_job")
def test_the_job_shows_its_effects_with_what_was_recorded(admin):
    (greet,) = admin.open("/ui/jobs.json?q=task:greet").answer.json()["jobs"]

    text = admin.open(f"/ui/jobs/{greet['id']}").text

    assert "greeting" in text
    assert '"words": "Hello ada"' in text


def test_a_link_to_jobs_finds_them_whatever_the_name_of_their_queue_and_task(served, admin):
    @served.app.task(name=STRANGE_NAME, queue=STRANGE_NAME)
    def strange() -> None: ...

    jobs = served.app.operations().jobs
    job = jobs.enqueue(STRANGE_NAME, {}, tenant="acme", correlation_id=STRANGE_NAME)
    jobs.enqueue("add", {"a": 1}, tenant="acme")

    for path in ("/ui/overview", "/ui/jobs", f"/ui/jobs/{job.id}"):
        links = [link.attributes["href"] for link in admin.open(path).all("main a[href*='lane']")]
        listings = [link for link in links if link.startswith("/ui/jobs?q=")]
        assert listings
        for link in listings:
            listed = admin.open(link)
            expected = [] if "running" in link else [f"job-{job.id}"]
            assert (link, [row.attributes["id"] for row in listed.all("tr[data-row]")]) == (link, expected)
            assert listed.all(".wrong") == []

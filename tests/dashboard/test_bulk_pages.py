"""Bulk actions by people: looked at before they begin, watched, and stopped, by whoever may."""

from __future__ import annotations

import pytest

from tests.support.dashboard import Person

HOSTILE = "<script>alert(1)</script> \u202e\x1b[2J"


@pytest.fixture
def letters(app):
    """Dead letters of two tenants."""
    jobs = app.operations().jobs
    ids = {tenant: [jobs.enqueue("fail", {"why": HOSTILE}, tenant=tenant).id] for tenant in ("acme", "globex")}
    ids["acme"].append(jobs.enqueue("fail", {"why": "the shelf is empty"}, tenant="acme").id)
    app.run_worker(until_empty=True)
    return ids


def test_a_requeue_is_confirmed_with_its_count_watched_and_done(served, letters):
    support = Person(served).log_in("support", "acme")

    asked = support.open("/ui/bulk/new?act=requeue&q=task:fail+tenant:acme,globex")
    started = support.submit(asked, "/bulk/new", reason="the shelf is full")

    assert "2 jobs match task:fail tenant:acme,globex of acme" in asked.text
    assert "Nobody would run it now: no live worker serves the queue 'default'" in asked.text
    assert [row for row in letters["acme"] if row[-12:] not in asked.text] == []
    assert "The action waits for a worker." in started.notice
    assert "Stop" in started.text
    served.app.run_worker(queues=["default"], max_jobs=1, until_empty=True)
    ended = support.open(started.path)
    data = support.open(f"{started.path}.json").answer.json()["action"]
    assert (data["state"], data["done"], data["of"], data["reason"]) == ("succeeded", 2, 2, "the shelf is full")
    assert (ended.all("form[action$='/stop']"), ended.all("script:not([src])")) == ([], [])
    assert "the shelf is full" in ended.text
    assert data["id"][-12:] in support.open("/ui/bulk").text
    assert served.app.operations().jobs.get(letters["globex"][0]).requeued_to is None


def test_an_action_is_stopped_from_its_page(served, admin):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme", delay="1 day")
    begun = admin.submit(admin.open("/ui/bulk/new?act=cancel&q=task:add"), "/bulk/new")

    stopped = admin.submit(begun, "/stop", reason="wrong filter")

    assert "The action is stopped" in stopped.notice
    assert "cancelled" in stopped.text
    (event,) = served.app.operations().events.page(name="bulk.stopped").rows
    assert (event.actor, event.data["reason"]) == ("admin:test-admin", "wrong filter")


@pytest.mark.usefixtures("letters")
def test_a_role_is_shown_what_it_may_and_refused_the_rest(served):
    tenant = Person(served).log_in("tenant", "acme")

    assert [option.attributes["value"] for option in tenant.open("/ui/bulk").all("option")] == ["cancel", "retry"]
    assert tenant.open("/ui/bulk/new?act=requeue").answer.status_code == 403
    fields = {"act": "requeue", "q": "", "back": "/ui/bulk"}
    assert "may not do 'dead.requeue'" in tenant.send(f"{served.root}/ui/bulk/new", fields).notice
    assert Person(served).log_in("monitor").open("/ui/bulk").answer.status_code == 403


@pytest.mark.usefixtures("letters")
def test_an_action_of_somebody_else_looks_like_one_that_is_not_there(served):
    acme, globex = (Person(served).log_in("tenant", tenant) for tenant in ("acme", "globex"))
    action = served.app.operations().bulk.start("cancel").job.id
    own = acme.client.post("/api/v1/bulk", json={"act": "cancel"}).json()

    assert action[-12:] not in acme.open("/ui/bulk").text
    for job_id in (action, own.get("id", action)):
        assert globex.open(f"/ui/bulk/{job_id}").answer.status_code == 404


def test_a_list_of_jobs_leads_to_what_can_be_done_with_all_of_them(served, admin, letters):
    del letters

    def acts(person, q):
        links = person.open(f"/ui/jobs?q={q}").all("a[href*='/bulk/new']")
        return {link.attributes["href"].partition("act=")[2].partition("&")[0]: link for link in links}

    links = acts(admin, "task:fail+tenant:acme")
    assert set(links) == {"requeue", "cancel", "retry"}
    assert "2 jobs match task:fail tenant:acme" in admin.open(links["requeue"].attributes["href"]).text
    assert set(acts(admin, "state:dead")) == {"requeue"}
    assert acts(admin, "stat:dead") == {}
    assert set(acts(Person(served).log_in("tenant", "acme"), "task:fail")) == {"cancel", "retry"}


def test_what_is_empty_or_wrong_says_what_to_do(admin):
    assert "No bulk action" in admin.open("/ui/bulk").text
    assert "There is nothing to do" in admin.open("/ui/bulk/new?act=retry&q=task:none").text
    wrong = admin.open("/ui/bulk/new?act=requeue&q=stat:x")
    assert (wrong.answer.status_code, "Did you mean state?" in wrong.text) == (422, True)
    assert admin.open("/ui/bulk/new?act=delete").answer.status_code == 422

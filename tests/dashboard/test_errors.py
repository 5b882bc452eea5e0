"""Errors: what died, put together by what it died of, and another life for it."""

from __future__ import annotations

import pytest

from haulwright.dashboard.pages import errors
from tests.support.dashboard import Person


@pytest.fixture
def dead(served):
    """Three jobs of acme and one of globex that died of the same error, and one of another task."""

    @served.app.task(name="break two", retry=1)
    def break_two() -> None:
        raise ValueError("<b>no</b>")

    jobs = served.app.operations().jobs
    for number in range(3):
        jobs.enqueue("fail", {"why": f"shelf {number} is empty"}, tenant="acme")
    jobs.enqueue("fail", {"why": "globex has no shelf"}, tenant="globex")
    jobs.enqueue("break two", {}, tenant="acme")
    served.app.run_worker(until_empty=True)


def requeue_link(page, task):
    (link,) = [
        link
        for link in page.all("a")
        if "/errors/requeue" in (link.attributes["href"] or "") and task in link.attributes["href"]
    ]
    return link


@pytest.mark.usefixtures("dead")
def test_dead_letters_stand_by_error_with_a_way_to_their_jobs(admin):
    page = admin.open("/ui/errors")

    data = admin.open("/ui/errors.json").answer.json()
    assert [(row["group"]["task"], row["group"]["count"]) for row in data["groups"]] == [("fail", 4), ("break two", 1)]
    assert [row["message"] for row in data["groups"]] == ["globex has no shelf", "<b>no</b>"]
    for row, count in zip(page.all("tr[data-row]"), (4, 1), strict=True):
        jobs = admin.open(row.css_first("th a").attributes["href"])
        assert (jobs.answer.status_code, len(jobs.all("tr[data-row]"))) == (200, count)


@pytest.mark.usefixtures("dead")
def test_a_group_is_requeued_after_a_look_at_what_it_takes_with_a_reason(served, admin):
    link = requeue_link(admin.open("/ui/errors"), "fail")
    assert link.text() == "Requeue these 4…"

    preview = admin.open(link.attributes["href"])
    assert "4 dead letters would get another life" in preview.text
    assert len(preview.all("tr[data-row]")) == 4
    assert admin.open("/ui/jobs?q=state:queued").all("tr[data-row]") == []

    assert "with a reason" in admin.submit(preview, "/errors/requeue", reason=" ").notice
    done = admin.submit(preview, "/errors/requeue", reason="the shelves are full again")

    assert "4 dead letters of fail got another life." in done.notice
    assert len(admin.open("/ui/jobs?q=state:queued task:fail").all("tr[data-row]")) == 4
    reasons = {event.data.get("reason") for event in served.app.operations().events.page(name="job.requeued").rows}
    assert reasons == {"the shelves are full again"}
    assert "None of them is left" in admin.open(link.attributes["href"]).text


@pytest.mark.usefixtures("dead")
def test_what_dies_after_the_look_is_not_requeued_with_it(served, admin):
    preview = admin.open(requeue_link(admin.open("/ui/errors"), "fail").attributes["href"])
    served.app.operations().jobs.enqueue("fail", {"why": "late"}, tenant="acme")
    served.app.run_worker(until_empty=True)

    admin.submit(preview, "/errors/requeue", reason="full again")

    (late,) = admin.open("/ui/jobs.json?q=state:dead requeued:false task:fail").answer.json()["jobs"]
    assert late["args"] == {"why": "late"}


@pytest.mark.usefixtures("dead")
def test_one_form_takes_so_many_and_says_that_there_are_more(admin, monkeypatch):
    monkeypatch.setattr(errors, "MOST_AT_ONCE", 2)
    preview = admin.open(requeue_link(admin.open("/ui/errors"), "fail").attributes["href"])

    assert "2 of more than 2 dead letters" in preview.text
    (bulk,) = [link for link in preview.all("a") if "bulk" in link.text()]
    assert "4" in admin.open(bulk.attributes["href"]).text
    assert "There are more of this error" in admin.submit(preview, "/errors/requeue", reason="half").notice
    assert len(admin.open("/ui/jobs?q=state:queued task:fail").all("tr[data-row]")) == 2


@pytest.mark.usefixtures("dead")
def test_one_dead_letter_is_requeued_alone_and_once(admin):
    preview = admin.open(requeue_link(admin.open("/ui/errors"), "fail").attributes["href"])
    (job,) = admin.open('/ui/jobs.json?q=state:dead args.why:"shelf 1 is empty"').answer.json()["jobs"]

    landed = admin.submit(preview, f"/{job['id']}/requeue")

    assert landed.path.startswith("/ui/jobs/")
    assert "goes on as job" in landed.notice
    again = admin.submit(preview, f"/{job['id']}/requeue")
    assert again.all(".notice.refused") != []


@pytest.mark.usefixtures("dead")
def test_a_tenant_sees_its_own_and_is_told_that_requeue_is_not_allowed(served):
    person = Person(served).log_in("tenant", "acme")

    page = person.open("/ui/errors")
    assert [row["group"]["count"] for row in person.open("/ui/errors.json").answer.json()["groups"]] == [3, 1]
    assert "globex" not in page.answer.text
    assert "Requeue: not allowed to the role tenant" in page.text
    fields = {
        "task": "fail",
        "error_class": "RuntimeError",
        "error_code": "RuntimeError",
        "before": "2999-01-01T00:00:00Z",
    }
    assert person.send("/ui/errors/requeue", {**fields, "reason": "mine"}).answer.status_code == 403
    assert served.app.operations().events.page(name="request.refused").rows[-1].data["verb"] == "dead.requeue"
    assert person.open("/ui/jobs?q=state:queued").all("tr[data-row]") == []


def test_no_dead_letter_says_what_would_be_here(admin):
    assert "haulwright dead list" in admin.open("/ui/errors").text
    assert admin.open("/ui/errors/requeue").answer.status_code == 422

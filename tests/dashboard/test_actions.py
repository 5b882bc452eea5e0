"""What a person may do on a page: by a form, with a reason, once, and written down with who did it."""

from __future__ import annotations

import pytest

from tests.support.dashboard import Person


@pytest.fixture
def waiting(app):
    """A job that waits for a worker."""
    return app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme").id


@pytest.fixture
def dead(app):
    """A dead letter."""
    job = app.operations().jobs.enqueue("fail", {"why": "the shelf is empty"}, tenant="acme")
    app.run_worker(until_empty=True)
    return job.id


def events_of(served, job_id):
    return served.app.operations().jobs.timeline(job_id).rows


def test_a_job_is_cancelled_with_a_reason_that_its_events_carry(served, admin, waiting):
    page = admin.open(f"/ui/jobs/{waiting}")

    after = admin.submit(page, "/cancel", reason="ordered twice")

    assert "It is cancelled." in after.tree.css_first(".notice").text()
    assert "ordered twice" in after.text
    (cancelled,) = [event for event in events_of(served, waiting) if event.name == "job.cancelled"]
    assert (cancelled.actor, cancelled.data["reason"]) == ("admin:test-admin", "ordered twice")
    assert cancelled.data["request_id"] == after.answer.history[0].headers["x-request-id"]


def test_what_an_action_says_is_said_once(admin, waiting):
    page = admin.open(f"/ui/jobs/{waiting}")
    assert admin.submit(page, "/cancel").all(".notice")

    assert not admin.open(f"/ui/jobs/{waiting}").all(".notice")


def test_a_dead_letter_gets_another_life_and_the_page_goes_on_with_it(served, admin, dead):
    page = admin.open(f"/ui/jobs/{dead}")

    after = admin.submit(page, "/retry", reason="the shelf is full again")

    assert after.path != f"/ui/jobs/{dead}"
    assert "It has another life" in after.tree.css_first(".notice").text()
    assert f"jobs/{dead}" in after.answer.text
    old = admin.open(f"/ui/jobs/{dead}")
    assert "Went on as" in old.text
    assert old.all("form[action$='/retry']") == []
    (requeued,) = [event for event in events_of(served, dead) if event.name == "job.requeued"]
    assert requeued.data["reason"] == "the shelf is full again"


def test_what_a_role_may_not_do_is_shown_so_and_refused_anyway(served, dead):
    tenant = Person(served).log_in("tenant", "acme")
    page = tenant.open(f"/ui/jobs/{dead}")
    assert "Requeue: not allowed to the role tenant" in page.text

    after = tenant.send(f"/ui/jobs/{dead}/retry", {"back": f"/ui/jobs/{dead}"})

    assert "A tenant may not do 'dead.requeue'" in after.tree.css_first(".notice.refused").text()
    assert served.app.operations().jobs.get(dead).requeued_to is None


def test_support_acts_with_the_reason_that_it_gave(served, waiting):
    support = Person(served).log_in("support", "acme")
    support.submit(support.open(f"/ui/jobs/{waiting}"), "/cancel")

    (cancelled,) = [event for event in events_of(served, waiting) if event.name == "job.cancelled"]
    assert (cancelled.actor, cancelled.data["reason"]) == ("support:test-support", "ticket 7")


def test_the_job_of_somebody_else_is_touched_by_nobody(served, waiting):
    stranger = Person(served).log_in("tenant", "globex")
    for verb in ("cancel", "retry"):
        assert stranger.send(f"/ui/jobs/{waiting}/{verb}", {"reason": ""}).answer.status_code == 404
    assert str(served.app.operations().jobs.get(waiting).state) == "queued"


def test_an_action_comes_from_a_page_of_ours_or_not_at_all(served, admin, waiting):
    url, fields = f"/ui/jobs/{waiting}/cancel", {"reason": "", "back": f"/ui/jobs/{waiting}"}
    here = {"Origin": served.address}
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", **here},
    ):
        assert admin.send(url, fields, **headers).answer.status_code == 403
    del admin.client.headers["Sec-Fetch-Site"]
    for headers in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}):
        assert admin.send(url, fields, **headers).answer.status_code == 403
    assert str(served.app.operations().jobs.get(waiting).state) == "queued"
    assert admin.send(url, fields, **here).answer.status_code == 200
    assert str(served.app.operations().jobs.get(waiting).state) == "cancelled"


def test_a_proxy_that_sends_a_token_with_everything_lets_no_other_page_act(served, waiting):
    person = Person(served)
    new = served.app.operations().tokens.create("ada", role="admin", tenant=None)
    person.client.headers["Authorization"] = f"Bearer {new.token}"

    answer = person.send(f"/ui/jobs/{waiting}/cancel", {"reason": ""}, **{"Sec-Fetch-Site": "cross-site"}).answer

    assert answer.status_code == 403
    assert str(served.app.operations().jobs.get(waiting).state) == "queued"


def test_a_form_that_is_none_changes_nothing(served, admin, waiting):
    url = f"/ui/jobs/{waiting}/cancel"
    for body, kind in (
        (b'{"reason":"x"}', "application/json"),
        (b"reason=%ff", "application/x-www-form-urlencoded"),
        (b"reason=a%00b", "application/x-www-form-urlencoded"),
        (b"&".join([b"a=1"] * 1000), "application/x-www-form-urlencoded"),
        (b"reason=" + b"x" * 10_000, "application/x-www-form-urlencoded"),
    ):
        answer = admin.client.post(url, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 422
    large = admin.client.post(
        url, content=b"x" * 400_000, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert large.status_code == 413
    assert str(served.app.operations().jobs.get(waiting).state) == "queued"


@pytest.mark.usefixtures("waiting")
def test_the_filter_is_suggested_word_by_word(served, admin):
    def words(text):
        return [row["word"] for row in admin.client.get("/ui/words.json", params={"word": text}).json()["words"]]

    assert "state:" in words("st")
    assert words("state:de") == ["state:dead"]
    assert words("-state:de") == ["-state:dead"]
    assert words("task:g") == ["task:greet"]
    assert words("queue:") == ["queue:default"]
    assert words("nothing:") == []
    assert Person(served).client.get("/ui/words.json").status_code == 401

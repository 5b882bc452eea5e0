"""Audit: every act with who, when, why and in which request; for a tenant its own alone."""

from __future__ import annotations

from tests.support.dashboard import Person


def test_an_act_stands_there_with_who_why_and_in_which_request(admin):
    admin.send("/ui/queues/mail/pause", {"reason": "<b>the relay moves</b>"})

    page = admin.open("/ui/audit?name=queue.paused")

    (row,) = page.all("tr[data-row]")
    (line,) = admin.open("/ui/audit.json?name=queue.paused").answer.json()["events"]
    assert "<b>the relay moves</b>" in row.text()
    assert "test-admin" in line["by"]
    assert len(line["request_id"]) > 10
    assert line["request_id"] in row.text()
    assert "mail" in row.text()


def test_a_refusal_stands_there_too(served, admin):
    Person(served).log_in("tenant", "acme").send("/ui/queues/mail/pause", {"reason": "why not"})

    (line,) = admin.open("/ui/audit.json?name=request.refused").answer.json()["events"]
    assert (line["facts"]["verb"], line["event"]["tenant"]) == ("queue.pause", "acme")


def test_events_come_newest_first_and_lead_to_their_jobs_in_both_directions(served, admin):
    operations = served.app.operations()
    ids = [operations.jobs.enqueue("add", {"a": number}, tenant="acme").id for number in range(5)]
    for job_id in ids:
        operations.jobs.cancel(job_id)

    first = admin.open("/ui/audit?name=job.cancelled&limit=2")
    second = admin.open(first.all("a[rel=next]")[0].attributes["href"])

    shown = [link.attributes["title"] for page in (first, second) for link in page.all("td a.id")]
    assert shown == ids[:0:-1]
    assert admin.open(first.all("td a.id")[0].attributes["href"]).answer.status_code == 200
    assert [
        a.attributes["title"] for a in admin.open(second.all("a[rel=prev]")[0].attributes["href"]).all("td a.id")
    ] == shown[:2]


def test_a_tenant_sees_its_own_events_alone_whatever_it_asks_for(served):
    operations = served.app.operations()
    for tenant in ("acme", "globex"):
        operations.jobs.cancel(operations.jobs.enqueue("add", {"a": 1}, tenant=tenant).id)
    person = Person(served).log_in("tenant", "acme")

    for query in ("", "&tenant=globex", "&tenant=acme"):
        lines = person.open(f"/ui/audit.json?name=job.cancelled{query}").answer.json()["events"]
        assert {line["event"]["tenant"] for line in lines} <= {"acme"}
    assert "globex" not in person.open("/ui/audit").answer.text


def test_a_name_that_no_event_has_is_told_with_the_nearest_one(admin):
    page = admin.open("/ui/audit?name=queue.pausd")

    assert "Did you mean queue.paused?" in page.text
    assert page.all("input[name=name]")[0].attributes["value"] == "queue.pausd"
    assert "No event matches" in admin.open("/ui/audit?name=token.revoked").text

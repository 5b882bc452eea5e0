"""Tasks and their forms: inputs by the signature, what is wrong beside it, and the same again as a job was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import pytest

from tests.support.dashboard import Person


@dataclass
class Parcel:
    """What a form has no single input for."""

    sku: str
    count: int = 1


@pytest.fixture
def app(app):
    """With a task that takes one of each."""

    @app.task(unique="to")
    def ship(  # noqa: PLR0913, PLR0917 - one of each
        to: str,
        parcels: list[Parcel],
        speed: Literal["slow", "fast"] = "slow",
        weight: float = 1.5,
        insured: bool = True,  # noqa: FBT001, FBT002 - as tasks have them
        note: str | None = None,
        many: int | None = None,
    ) -> None:
        """Ship parcels <b>somewhere</b>."""

    return app


def field(page, name):
    (found,) = page.all(f'[name="arg.{name}"]')
    return found


def jobs_of(served, task="ship"):
    return [job for job in served.app.operations().jobs.page().jobs if job.task == task]


FILLED = {
    "arg.to": " Ada\u00a0L. ",
    "arg.parcels": '[{"sku": "A1"},\r\n {"sku": "B2", "count": 3}]',
    "arg.speed": '"fast"',
    "arg.weight": "2.25",
    "arg.note": "",
    "arg.many": "",
}


def test_a_task_has_an_input_for_each_argument_with_its_default(admin):
    (link,) = [link for link in admin.open("/ui/tasks").all("th a") if link.text() == "ship"]
    page = admin.open(link.attributes["href"])

    assert "Ship parcels <b>somewhere</b>." in page.text
    assert (field(page, "to").tag, field(page, "to").attributes["value"] or "") == ("input", "")
    assert field(page, "parcels").tag == "textarea"
    assert [option.attributes["value"] for option in field(page, "speed").css("option")] == ["", '"slow"', '"fast"']
    assert "selected" in field(page, "speed").css("option")[1].attributes
    assert (field(page, "weight").attributes["value"], field(page, "weight").attributes["inputmode"]) == (
        "1.5",
        "decimal",
    )
    assert "checked" in field(page, "insured").attributes
    assert "empty is null" in page.text
    assert page.all("input[name=unique]") != []
    assert admin.open("/ui/tasks/add").all("input[name=unique]") == []


def test_what_is_filled_in_becomes_a_job(served, admin):
    landed = admin.send(
        "/ui/tasks/ship",
        {**FILLED, "queue": "post", "priority": "-5", "delay": "10 min", "tenant": "acme", "reason": "by hand"},
    )

    assert "The job is enqueued." in landed.notice
    (job,) = jobs_of(served)
    assert landed.path == f"/ui/jobs/{job.id}"
    assert json.loads(job.args) == {
        "to": " Ada\u00a0L. ",
        "parcels": [{"sku": "A1", "count": 1}, {"sku": "B2", "count": 3}],
        "speed": "fast",
        "weight": 2.25,
        "insured": False,
        "note": None,
        "many": None,
    }
    assert (job.queue, job.priority, job.tenant, job.run_at > job.created_at) == ("post", -5, "acme", True)
    queued = served.app.operations().jobs.timeline(job.id).rows[0]
    assert (queued.data.get("reason"), "test-admin" in queued.actor) == ("by hand", True)
    again = admin.send("/ui/tasks/ship", {**FILLED, "tenant": "acme"})
    assert "by its unique key" in again.notice
    assert len(jobs_of(served)) == 1


@pytest.mark.parametrize(
    ("wrong", "name", "words"),
    [
        ({"arg.parcels": '[{"sku": }]'}, "parcels", "is no JSON: expecting value, in line 1 at character 10"),
        ({"arg.parcels": '[{"count": 2}]'}, "parcels", "0.sku: Field required"),
        ({"arg.parcels": "[NaN]"}, "parcels", "NaN"),
        ({"arg.parcels": "[" * 5000}, "parcels", "is no JSON"),
        ({"arg.parcels": ""}, "parcels", "Field required"),
        ({"arg.many": "several"}, "many", "valid integer"),
        ({"arg.many": "9" * 5000}, "many", ""),
        ({"arg.weight": "<i>"}, "weight", "valid number"),
        ({"arg.speed": '"sideways"'}, "speed", "Input should be"),
    ],
)
def test_what_cannot_be_is_told_beside_its_field_and_nothing_typed_is_lost(served, admin, wrong, name, words):
    page = admin.send("/ui/tasks/ship", {**FILLED, "priority": "7", **wrong})

    assert page.answer.status_code == 422
    (error,) = page.all(".problem")
    assert (error.attributes["id"], words in error.text()) == (f"{name}-error", True)
    assert field(page, name).attributes["aria-invalid"] == "true"
    assert field(page, "to").attributes["value"] == FILLED["arg.to"]
    assert "checked" not in field(page, "insured").attributes
    assert page.all("input[name=priority]")[0].attributes["value"] == "7"
    assert jobs_of(served) == []
    sent = page.form("/tasks/ship")
    assert sent["arg.to"] == FILLED["arg.to"]


@pytest.mark.parametrize(
    ("option", "value"), [("priority", "high"), ("priority", "101"), ("delay", "soon"), ("queue", "post\u2028office")]
)
def test_an_option_that_cannot_be_is_told_above_the_form(served, admin, option, value):
    page = admin.send("/ui/tasks/ship", {**FILLED, option: value})

    assert (page.answer.status_code, len(page.all("main > .wrong"))) == (422, 1)
    assert "open" in page.all("form details")[0].attributes
    assert jobs_of(served) == []


def test_the_same_as_a_job_is_filled_in_as_it_was(served, admin):
    admin.send(
        "/ui/tasks/ship",
        {
            **FILLED,
            "arg.note": "line one\nline two",
            "arg.insured": "true",
            "queue": "post",
            "priority": "3",
            "tenant": "acme",
        },
    )
    (job,) = jobs_of(served)

    page = admin.open(f"/ui/tasks/ship?job={job.id}")

    assert field(page, "note").tag == "textarea"
    sent = page.form("/tasks/ship")
    assert (sent["queue"], sent["priority"], sent["tenant"]) == ("post", "3", "acme")
    values = {f["name"]: f["text"] for f in admin.open(f"/ui/tasks/ship.json?job={job.id}").answer.json()["fields"]}
    served.app.operations().jobs.cancel(job.id)
    fields = {f"arg.{name}": text for name, text in values.items() if name != "insured"} | {"arg.insured": "true"}
    assert "enqueued" in admin.send("/ui/tasks/ship", {**fields, "tenant": "acme"}).notice
    new, old = jobs_of(served)
    assert new.args == old.args
    assert admin.open(f"/ui/tasks/add?job={job.id}").answer.status_code == 422


def test_a_tenant_runs_tasks_for_itself_alone(served):
    person, stranger = (Person(served).log_in("tenant", tenant) for tenant in ("acme", "globex"))

    assert person.open("/ui/tasks/ship").all("input[name=tenant]") == []
    person.send("/ui/tasks/ship", FILLED)
    (job,) = jobs_of(served)
    assert job.tenant == "acme"
    assert stranger.open(f"/ui/tasks/ship?job={job.id}").answer.status_code == 404
    refused = person.send("/ui/tasks/ship", {**FILLED, "arg.to": "Bob", "tenant": "globex"})
    assert refused.answer.status_code == 403
    assert len(jobs_of(served)) == 1


def test_a_task_that_is_not_there_is_not_found(admin):
    assert admin.open("/ui/tasks/nothing").answer.status_code == 404
    assert admin.send("/ui/tasks/nothing", {"reason": ""}).answer.status_code == 404


def test_a_job_leads_to_the_form_that_runs_the_same(served, admin):
    (link,) = [link for link in admin.open(job_of_add(served)).all("main a") if "Same as this job" in link.text()]

    page = admin.open(link.attributes["href"])

    assert page.all("h1")[0].text() == "Run add"
    assert page.form("/tasks/add")["arg.a"] == "7"


def test_a_job_whose_task_the_app_has_no_more_leads_to_no_form(served, admin):
    path = job_of_add(served)
    del served.app.tasks["add"]
    assert "Same as this job" not in admin.open(path).text


def job_of_add(served):
    """The page of a job that was enqueued."""
    return f"/ui/jobs/{served.app.operations().jobs.enqueue('add', {'a': 7}, tenant='acme').id}"

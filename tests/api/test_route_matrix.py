"""Every route of the engine, from the API's own document, with every kind of caller and with ids of somebody else."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Principal
from haulwright.api.application import create_api
from haulwright.engine.ids import new_id
from haulwright.operations.access import VERBS
from haulwright.operations.views.effects import unresolved_view
from haulwright.operations.views.events import event_view
from haulwright.operations.views.jobs import job_view
from haulwright.operations.views.schedules import schedule_view, slot_view
from haulwright.operations.views.tokens import token_view
from tests.api.operations_of_api import ELSEWHERE, OPEN, VERB_OF, api_operations
from tests.api.scenes import Belongings, furnish
from tools.http_reference import routes_of, verbs_of


@pytest.fixture
def things(served):
    return furnish(served.app, "acme", "globex")


def rows_of(app, tenant):
    """Everything that a tenant has, as it stands."""
    operations = app.operations(Principal.admin("auditor").for_tenant(tenant))
    schedules = operations.schedules.page().rows
    return {
        "jobs": [job_view(job) for job in operations.jobs.page(limit=1000).jobs],
        "schedules": [schedule_view(row) for row in schedules],
        "slots": [slot_view(slot) for row in schedules for slot in operations.schedules.slots(row.spec.name).rows],
        "effects": [unresolved_view(row) for row in operations.effects.unresolved().rows],
        "tokens": [token_view(row) for row in operations.tokens.page().rows],
        "events": [event_view(event) for event in operations.events.page(limit=1000).rows],
        "queues": operations.queues.page().rows,
    }


def without_time(headers):
    return {name: value for name, value in headers.items() if name != "date"}


def test_every_route_has_a_verb_that_says_who_may():
    assert {operation.id for operation in api_operations()} == set(VERB_OF)
    assert {*VERB_OF.values(), *ELSEWHERE.values()} <= set(VERBS)
    assert not OPEN & set(VERB_OF)


def test_the_verb_of_a_route_is_one_that_its_code_asks_for():
    asked = {route.operation_id: verbs_of(route.endpoint) for route in routes_of(create_api(Haulwright()))}
    named = VERB_OF | ELSEWHERE
    del named["streams_overview"]  # asked in the route itself, for its looks come later
    assert {name: verb for name, verb in named.items() if verb not in asked[name]} == {}


@pytest.mark.proves("TN-01")
def test_without_a_token_every_route_gives_one_and_the_same_answer(served, things):
    before = rows_of(served.app, "acme")
    stranger = served.anonymous(**{"X-Request-Id": "r", "Haulwright-Tenant": "acme", "Haulwright-Reason": "mine"})
    answers = [stranger.request(**operation.request(things["acme"])) for operation in api_operations()]

    assert {(answer.status_code, answer.text) for answer in answers} == {(401, answers[0].text)}
    assert rows_of(served.app, "acme") == before


def caller(served, role, tenant, **headers):
    """Somebody of a role who acts for a tenant; staff says so in words."""
    words = {} if role == "tenant" else {"Haulwright-Tenant": tenant, "Haulwright-Reason": "ticket 7"}
    return served.client(tenant if role == "tenant" else None, role=role, **words, **headers)


def test_a_role_does_what_the_table_says_and_every_refusal_is_an_event(served):
    tenants = {"tenant": "acme", "support": "globex", "admin": "initech"}
    things = furnish(served.app, *tenants.values())
    refused = []
    for role, tenant in tenants.items():
        client = caller(served, role, tenant)
        for operation in api_operations():
            answer = client.request(**operation.request(things[tenant]))
            if role in VERBS[operation.verb]:
                assert answer.status_code in {200, 201, 202, 409}, (operation.id, answer.text)
            else:
                assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), operation.id
                refused.append((tenant, f"{role}:test-{role}", operation.verb))

    events = served.app.operations().events.page(name="request.refused", limit=1000).rows
    assert [(event.tenant, event.actor, event.data["verb"]) for event in events] == refused
    assert {tenant for tenant, _, _ in refused} == {"acme", "globex"}


@pytest.mark.proves("TN-02")
@pytest.mark.proves("TN-03")
def test_what_belongs_to_another_tenant_looks_to_the_byte_like_what_is_not_there(served, things):
    globex = things["globex"]
    absent = Belongings(
        "globex", new_id(), new_id(), "glob__-queue", "glob__-hourly", "pay-glob__", "hw_000000000000", new_id()
    )
    before = rows_of(served.app, "globex")

    for role in ("tenant", "support", "admin"):
        client = caller(served, role, "acme", **{"X-Request-Id": "r"})
        for operation in [each for each in api_operations() if each.names_something()]:
            foreign, none = (client.request(**operation.request(which)) for which in (globex, absent))
            text = foreign.text
            for name, value in vars(globex).items():
                text = text if name == "tenant" else text.replace(value, getattr(absent, name))
            assert (foreign.status_code, text) == (none.status_code, none.text), operation.id
            assert without_time(foreign.headers) == without_time(none.headers), operation.id
            fleet_wide = operation.id == "queues_show"  # it shows what this tenant has in it: nothing
            assert foreign.status_code in {403, 404} or fleet_wide, (operation.id, foreign.text)

    assert rows_of(served.app, "globex") == before


@pytest.mark.proves("TN-03")
def test_no_list_filter_or_cursor_gives_a_tenant_a_row_of_another(served, things):
    globex, client, other = things["globex"], served.client(), served.client("globex")
    filters = ["", "tenant:globex", "-tenant:acme", "tenant:acme,globex", f"id:{globex.job}", "queue:globex-queue"]
    for operation in [each for each in api_operations() if each.method == "GET" and "{" not in each.path]:
        for q in filters if operation.id in {"jobs_list", "dead_letters_list"} else [None]:
            query = {} if q is None else {"q": q}
            answer = client.get(operation.path, params=query)
            assert "globex" not in answer.text.replace(str(q), ""), (operation.id, q)
            assert globex.job not in answer.text
            theirs = other.get(operation.path, params={**query, "limit": 1} if operation.id in PAGED else query)
            cursor = theirs.json().get("next")
            if cursor is not None:
                stolen = client.get(operation.path, params={**query, "cursor": cursor})
                assert (stolen.status_code, stolen.json()["code"]) == (422, "invalid_value"), operation.id


PAGED = {
    "jobs_list",
    "dead_letters_list",
    "bulk_list",
    "queues_list",
    "schedules_list",
    "events_list",
    "effects_unresolved",
}


@pytest.mark.proves("TN-01")
def test_a_tenant_named_in_header_query_or_body_changes_nothing(served, things):
    client, acme = served.client(**{"X-Request-Id": "r"}), things["acme"]
    before = rows_of(served.app, "globex")
    named = {"Haulwright-Tenant": "globex", "Haulwright-Reason": "x", "X-Tenant": "globex", "X-Tenant-Id": "globex"}
    for operation in api_operations():
        request = operation.request(acme)
        refused = client.request(**request, params={"tenant": "globex"})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value"), operation.id
        if operation.has_body:
            body = {**request["json"], "tenant": "globex"}
            assert client.request(**{**request, "json": body}).status_code in {403, 422}, operation.id
        plain = client.request(**request) if operation.method == "GET" else None
        answer = client.request(**request, headers=named)
        if plain is not None and operation.id != "overview_show":  # which has the time in it
            assert (answer.status_code, answer.text) == (plain.status_code, plain.text), operation.id

    assert rows_of(served.app, "globex") == before
    assert {job["tenant"] for job in client.get("/jobs").json()["jobs"]} == {"acme"}

"""What holds for every route of the engine holds for those that applications declare: by the API's own document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.api.application_scenes import (
    OF_ENGINE,
    TOKENS,
    app_with_all,
    application_routes,
    furnish_applications,
    rows_of,
    unknown_to_all,
)
from tests.api.fuzzing import fuzz
from tests.support.api import Served, serving

EXAMPLES = int(os.environ.get("HAULWRIGHT_FUZZ_EXAMPLES", "4"))
ROLES = ("tenant", "support", "admin", "monitor")


@pytest.fixture(autouse=True)
def tokens_of_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the installation has an account at each service."""
    for name in TOKENS:
        monkeypatch.setenv(name, "token-of-nobody")


@pytest.fixture
def served(database_url: str) -> Iterator[Served]:
    """The same behind its API."""
    with closing(app_with_all(database_url)) as app, serving(app) as served:
        yield served


def caller(served, role, tenant, **headers):
    """Somebody of a role who acts for a tenant; staff says so in words."""
    words = {"Haulwright-Tenant": tenant, "Haulwright-Reason": "ticket 7"} if role in {"support", "admin"} else {}
    return served.client(tenant if role == "tenant" else None, role=role, **words, **headers)


@pytest.mark.proves("TN-01")
def test_without_a_token_every_route_of_an_application_gives_the_same_answer(served):
    ids = furnish_applications(served.app, "acme")["acme"]
    before = rows_of(served.app, "acme")
    stranger = served.anonymous(**{"X-Request-Id": "r", "Haulwright-Tenant": "acme", "Haulwright-Reason": "mine"})
    routes = application_routes(served.app)
    answers = [stranger.request(**route.request(ids)) for route in routes]

    assert len(routes) > 50
    assert {(answer.status_code, answer.text) for answer in answers} == {(401, stranger.get("/jobs").text)}
    assert rows_of(served.app, "acme") == before


@pytest.mark.proves("TN-01")
def test_a_tenant_in_the_query_is_refused_by_every_route_of_an_application(served):
    things = furnish_applications(served.app, "acme", "globex")
    before = rows_of(served.app, "globex")
    client = served.client()
    for route in application_routes(served.app):
        request = route.request(things["acme"])
        refused = client.request(**{**request, "params": {**(request["params"] or {}), "tenant": "globex"}})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value"), (route.id, refused.text)
        if route.body is not None and route.id != "documents_upload_manifest":  # a document of the caller's own
            body = {**route.body, "tenant": "globex"}
            assert client.request(**{**request, "json": body}).status_code == 422, route.id

    assert rows_of(served.app, "globex") == before


@pytest.mark.proves("TN-02")
@pytest.mark.proves("TN-03")
def test_what_another_tenant_has_in_an_application_looks_to_the_byte_like_what_is_not_there(served):
    theirs = furnish_applications(served.app, "of-tenant", "globex")["globex"]
    absent = unknown_to_all(theirs, "globex")
    routes = [route for route in application_routes(served.app) if route.names_something or route.queries]
    before = rows_of(served.app, "globex")

    assert {route.method for route in routes} == {"GET", "POST", "PUT", "PATCH", "DELETE"}
    for role in ("tenant", "support", "admin"):
        client = caller(served, role, f"of-{role}", **{"X-Request-Id": "r"})
        for route in routes:
            foreign, none = (client.request(**route.request(ids)) for ids in (theirs, absent))
            text = foreign.text
            for name, value in theirs.items():
                text = text.replace(value, absent[name])
            assert (foreign.status_code, text) == (none.status_code, none.text), route.id
            expected = EXPECTED.get(route.id, 404) if route.allows(role) else 403
            assert foreign.status_code == expected, (route.id, foreign.text)

    assert rows_of(served.app, "globex") == before


EXPECTED = {"syncs_list_jobs": 200, "prices_put_source": 200}
"""A list of what somebody has is empty, and a name that is another's can be one's own as well."""


def test_a_role_does_in_an_application_what_the_table_of_verbs_says(served):
    assert {role for route in application_routes(served.app) for role in ROLES if route.allows(role)} == set(ROLES[:3])
    for role in ROLES:
        tenant = f"of-{role}"
        ids = furnish_applications(served.app, tenant)[tenant]
        client = caller(served, role, tenant)
        for route in application_routes(served.app):
            before = None if route.allows(role) else rows_of(served.app, tenant)
            answer = client.request(**route.request(ids))
            if before is None:
                assert answer.status_code in {200, 201, 202, *LATER.get(route.id, ())}, (role, route.id, answer.text)
            else:
                assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (role, route.id)
                after = rows_of(served.app, tenant)
                assert after | {"haulwright_events": 0} == before | {"haulwright_events": 0}, (role, route.id)


LATER = {
    "brands_snapshot": {404},
    "brands_diff": {404},
    "brief_show": {404},
    "brief_list_events": {404},
    "documents_file": {422},
    "prices_show_valuation": {404},
    "syncs_dispatch": {409},
    "syncs_remove_connection": {409},
    "syncs_requeue": {409},
}
"""What is only there after a run, and what can only be done then."""


def test_no_request_to_an_application_is_a_fault_or_answered_otherwise_than_documented(served):
    ids = furnish_applications(served.app, "acme")["acme"]
    sent = fuzz(served, examples=EXAMPLES, same_each_time=True, without=OF_ENGINE, things=ids)
    assert sent > EXAMPLES

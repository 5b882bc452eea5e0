"""What holds for every route of the engine holds for those that applications declare: by the API's own document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.api.application import create_api
from haulwright.api.kit.routes import PREFIX
from haulwright.application.application import application
from haulwright.discovery import installed_applications
from tests.api.fuzzing import fuzz
from tests.api.operations_of_api import ELSEWHERE, OPEN, VERB_OF
from tests.support.api import Served, serving

EXAMPLES = int(os.environ.get("HAULWRIGHT_FUZZ_EXAMPLES", "4"))


OF_ENGINE = frozenset({*VERB_OF, *ELSEWHERE, *OPEN})


def app_with_all(database_url: str) -> Haulwright:
    """An app with all applications."""
    app = Haulwright(database_url)
    for name in installed_applications().specs:
        application(name, app)
    app.operations().schema.migrate()
    return app


@pytest.fixture
def served(database_url: str) -> Iterator[Served]:
    """The same behind its API."""
    with closing(app_with_all(database_url)) as app, serving(app) as served:
        yield served


def requests_of(app):
    """A request for every operation of the applications, about something that is not there."""
    return [
        (operation["operationId"], method.upper(), re.sub(r"\{[^}]*\}", "unknown", path.removeprefix(PREFIX)))
        for path, methods in create_api(app).openapi()["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in OF_ENGINE
    ]


@pytest.mark.proves("TN-01")
def test_without_a_token_every_route_of_an_application_gives_the_same_answer(served):
    stranger = served.anonymous(**{"X-Request-Id": "r", "Haulwright-Tenant": "acme", "Haulwright-Reason": "mine"})
    requests = requests_of(served.app)
    answers = {name: stranger.request(method, path, json={}) for name, method, path in requests}

    assert len(requests) > 50
    assert {(answer.status_code, answer.text) for answer in answers.values()} == {(401, stranger.get("/jobs").text)}


@pytest.mark.proves("TN-01")
def test_a_tenant_in_the_query_is_refused_by_every_route_of_an_application(served):
    client = served.client()
    for name, method, path in requests_of(served.app):
        refused = client.request(method, path, json={} if method != "GET" else None, params={"tenant": "globex"})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value"), (name, refused.text)


def test_a_monitor_reads_figures_and_nothing_of_an_application(served):
    monitor = served.client(None, role="monitor")
    for name, method, path in requests_of(served.app):
        answer = monitor.request(method, path, json={} if method != "GET" else None)
        assert answer.status_code in {400, 403, 404, 415, 422}, (name, answer.status_code, answer.text[:200])


def test_no_request_to_an_application_is_a_fault_or_answered_otherwise_than_documented(served):
    assert fuzz(served, examples=EXAMPLES, same_each_time=True, without=OF_ENGINE) > EXAMPLES

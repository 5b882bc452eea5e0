"""Proof: 200 requests that nobody thought of for every operation of the API and its applications, on each database."""

from __future__ import annotations

import os
from contextlib import closing

from tests.api.application_scenes import OF_ENGINE, TOKENS, app_with_all, furnish_applications
from tests.api.conftest import app, served  # noqa: F401 - fixtures are found by their names
from tests.api.fuzzing import fuzz
from tests.support.api import serving

EXAMPLES = int(os.environ.get("HAULWRIGHT_FUZZ_EXAMPLES", "200"))


def test_no_request_is_a_fault_or_answered_otherwise_than_documented(served):  # noqa: F811 - the fixture
    assert fuzz(served, examples=EXAMPLES, same_each_time=False) > EXAMPLES


def test_no_request_to_an_application_is_a_fault_or_answered_otherwise_than_documented(database_url, monkeypatch):
    for name in TOKENS:
        monkeypatch.setenv(name, "token-of-nobody")
    with closing(app_with_all(database_url)) as own, serving(own) as at_home:
        things = furnish_applications(own, "acme")["acme"]
        sent = fuzz(at_home, examples=EXAMPLES, same_each_time=False, without=OF_ENGINE, things=things)
        assert sent > EXAMPLES

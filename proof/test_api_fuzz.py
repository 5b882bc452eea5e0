"""Proof: 200 requests that nobody thought of for every operation of the API, on each database."""

from __future__ import annotations

import os

from tests.api.conftest import app, served  # noqa: F401 - fixtures are found by their names
from tests.api.fuzzing import fuzz

EXAMPLES = int(os.environ.get("HAULWRIGHT_FUZZ_EXAMPLES", "200"))


def test_no_request_is_a_fault_or_answered_otherwise_than_documented(served):  # noqa: F811 - the fixture
    assert fuzz(served, examples=EXAMPLES, same_each_time=False) > EXAMPLES

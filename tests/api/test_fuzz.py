"""Whatever anybody sends, the API answers as its own document says, and never with a fault."""

from __future__ import annotations

import os

from tests.api.fuzzing import fuzz
from tests.api.scenes import furnish

AS_JSON = {"Content-Type": "application/json", "Connection": "close"}
"""Closed after each: what follows a fault shall not fail with it."""
EXAMPLES = int(os.environ.get("HAULWRIGHT_FUZZ_EXAMPLES", "4"))
"""An operation; `make proof ONLY=api_fuzz` takes 200."""


def test_no_request_is_a_fault_or_answered_otherwise_than_documented(served):
    assert fuzz(served, examples=EXAMPLES, same_each_time=True) > EXAMPLES


UNFIT = [
    ("POST", "/queues/default/pause", b'{"reason": "a\\u0000b"}'),
    ("POST", "/queues/default/pause", b'{"reason": "\\ud800"}'),
    ("POST", "/queues/default/pause", b"[" * 100_000),
    ("POST", "/queues/default/pause", b"\xff\xfe"),
    ("POST", "/queues/default/pause", b""),
    ("POST", "/queues/a%00b/pause", b"{}"),
    ("POST", "/sources/shop.example/pause", b'{"seconds": 1e400}'),
    ("POST", "/sources/shop.example/pause", b'{"seconds": NaN}'),
    ("PUT", "/sources/shop.example/limits", b'{"burst": 1' + b"0" * 5000 + b', "rate": "1/s"}'),
    ("POST", "/jobs", b'{"task": "add", "args": {"a": 1' + b"0" * 5000 + b"}}"),
    ("POST", "/jobs", b'{"task": "add", "args": {"a": "\\ud800"}}'),
    ("POST", "/jobs", b'{"task": "fail", "args": {"why": "a\\u0000b"}}'),
    ("POST", "/jobs", b'{"task": "fail", "args": {"why": "a"}, "tags": ["a\\u0000b"]}'),
    ("POST", "/jobs", b'{"task": "fail", "args": {"why": "a"}, "headers": {"a": "a\\u0000b"}}'),
    ("POST", "/jobs", b'{"task": "add", "args": {"a": 1}, "run_at": "9999-12-31T23:59:59-23:59"}'),
    ("POST", "/jobs", b'{"task": "add", "args": {"a": 1}, "run_at": "0001-01-01T00:00:00+23:59"}'),
    ("POST", "/jobs", b'{"task": "add", "args": {"a": 1}, "delay": 1e300}'),
    ("POST", "/tokens", b'{"name": "x", "tenant": "acme", "expires_in": 1e300}'),
    ("POST", "/schedules/acme-hourly/trigger", b'{"scheduled_for": "0001-01-01T00:00:00+23:59"}'),
    ("POST", "/schedules/acme-hourly/backfill", b'{"first": "0001-01-03T00:00:00Z", "last": "2020-01-01T00:00:00Z"}'),
    ("GET", "/schedules/acme-hourly/upcoming?count=" + "9" * 5000, b""),
    ("GET", "/jobs?q=tenant:%00", b""),
    ("GET", "/jobs?limit=1&limit=2&cursor=.", b""),
    ("GET", "/events?cursor=%00", b""),
    ("GET", "/effects/unresolved?age=inf", b""),
    ("GET", "/overview?queue=%00", b""),
    ("DELETE", "/tokens/%00", b""),
]
"""What cannot be stored or read: NUL, half characters, numbers and moments beyond all, JSON without a bottom."""


def test_what_no_row_can_hold_is_a_problem_of_the_caller(served):
    furnish(served.app, "acme")
    admin, faults = served.admin(**AS_JSON), []
    for method, path, body in UNFIT:
        answer = admin.request(method, path, content=body)
        is_problem = answer.headers["content-type"] == "application/problem+json"
        if not (400 <= answer.status_code < 500 and is_problem):
            faults.append((method, path[:80], body[:80], answer.status_code, answer.text[:200]))
    assert faults == []

"""What Apify refuses is told by its type first, and only then by the status."""

from __future__ import annotations

import json

import pytest

from haulwright.errors import AuthFailed, Permanent, Retryable, Throttled
from haulwright.sources.apify import (
    Apify,
    ApifyAuthFailed,
    ApifyBilling,
    ApifyBusy,
    ApifyError,
    ApifyNotFound,
    ApifyRefused,
    ApifyUnavailable,
)
from haulwright.sources.apify.errors import refusal

ACTOR = "apify~instagram-post-scraper"
INPUT = {"username": ["acme"], "resultsLimit": 8}
TABLE = [
    (401, "token-not-provided", ApifyAuthFailed, AuthFailed),
    (400, "user-or-token-not-found", ApifyAuthFailed, AuthFailed),
    (403, "insufficient-permissions", ApifyAuthFailed, AuthFailed),
    (403, "", ApifyAuthFailed, AuthFailed),
    (402, "", ApifyBilling, Permanent),
    (403, "actor-is-not-rented", ApifyBilling, Permanent),
    (400, "not-enough-usage-to-run-paid-actor", ApifyBilling, Permanent),
    (400, "concurrent-runs-limit-exceeded", ApifyBusy, Throttled),
    (400, "actor-memory-limit-exceeded", ApifyBusy, Throttled),
    (429, "rate-limit-exceeded", ApifyBusy, Throttled),
    (429, "", ApifyBusy, Throttled),
    (400, "invalid-input", ApifyRefused, Permanent),
    (404, "actor-not-found", ApifyNotFound, Permanent),
    (400, "something-new", ApifyRefused, Permanent),
    (408, "operation-timed-out", ApifyUnavailable, Retryable),
    (500, "internal-server-error", ApifyUnavailable, Retryable),
    (503, "", ApifyUnavailable, Retryable),
]


@pytest.mark.proves("IN-13")
@pytest.mark.parametrize(("status", "kind", "error", "outcome"), TABLE)
def test_every_refusal_has_the_class_that_says_what_to_do(apify, sandbox, status, kind, error, outcome):  # noqa: PLR0913, PLR0917 - a table
    body = json.dumps({"error": {"type": kind, "message": "No."}}) if kind else "<html>gateway</html>"
    sandbox.faults.add("status", code=status, body=body)

    with pytest.raises(ApifyError) as refused:
        apify.start(ACTOR, INPUT)

    assert type(refused.value) is error
    assert isinstance(refused.value, outcome)
    assert (refused.value.status_code, refused.value.kind, refused.value.body) == (status, kind, body)


def test_a_wait_that_apify_asks_for_is_kept_and_else_there_is_a_short_one(apify, sandbox):
    sandbox.faults.add("rate_limit", retry_after=42)
    sandbox.apify.script(limits={"concurrent_runs": 1})

    with pytest.raises(ApifyBusy) as asked:
        apify.start(ACTOR, INPUT)
    apify.start(ACTOR, INPUT)
    with pytest.raises(ApifyBusy) as full:
        apify.start(ACTOR, INPUT)

    assert (asked.value.after, full.value.after) == (42, 10)
    assert full.value.kind == "concurrent-runs-limit-exceeded"


def test_a_revoked_token_names_its_credential_and_is_not_shown(sandbox, http):
    apify = Apify(http, "canary-5f1c", f"{sandbox.url}/apify", credential="acme's token", shared=True)
    sandbox.apify.script(revoke="canary-5f1c")

    with pytest.raises(ApifyAuthFailed) as refused:
        apify.start(ACTOR, INPUT)

    assert (refused.value.credential, refused.value.shared) == ("acme's token", True)
    assert "canary" not in f"{refused.value} {refused.value.body} {apify!r} {vars(apify)}"


@pytest.mark.parametrize(("status", "error"), [(400, ApifyRefused), (429, ApifyBusy), (500, ApifyUnavailable)])
def test_an_answer_of_brackets_alone_keeps_the_class_of_its_status(status, error):
    assert type(refusal("GET x", status, b"[" * 100_000)) is error

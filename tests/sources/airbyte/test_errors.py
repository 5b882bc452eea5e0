"""What Airbyte refuses has a class that an application can act on."""

from __future__ import annotations

import json

import pytest

from haulwright.errors import AuthFailed, Permanent, Retryable, Throttled
from haulwright.sources.airbyte import CLASSES, Airbyte, AirbyteError, error_class
from haulwright.sources.airbyte.errors import refusal
from haulwright.sources.http import NotSent

ERRORS = "https://reference.airbyte.com/reference/errors"
TABLE = [
    (403, f"{ERRORS}#forbidden", "auth", AuthFailed),
    (403, "error:auth/sso-required", "auth", AuthFailed),
    (403, "error:license/entitlement", "billing", Permanent),
    (404, f"{ERRORS}#resource-not-found", "not_found", Permanent),
    (404, "error:billing/no-active-subscription", "billing", Permanent),
    (409, f"{ERRORS}#try-again-later", "conflict", Throttled),
    (409, f"{ERRORS}#409-state-conflict", "conflict", Permanent),
    (409, "error:connection/locked", "locked", Retryable),
    (409, "", "conflict", Retryable),
    (422, f"{ERRORS}#unprocessable-entity", "invalid", Permanent),
    (422, "error:billing/insufficient-credit-balance", "billing", Permanent),
    (408, "error:request-timeout-exceeded", "server", Retryable),
    (429, "", "rate_limited", Throttled),
    (400, f"{ERRORS}#bad-request", "invalid", Permanent),
    (500, "about:blank", "server", Retryable),
    (503, "", "server", Retryable),
]


@pytest.mark.proves("IN-15")
@pytest.mark.parametrize(("status", "kind", "word", "outcome"), TABLE)
def test_every_refusal_has_its_class(airbyte, sandbox, connection, status, kind, word, outcome):  # noqa: PLR0913, PLR0917 - a table
    body = json.dumps({"type": kind, "status": status, "detail": "No."}) if kind else "<html>gateway</html>"
    sandbox.faults.add("status", path="/airbyte/v1/connections/*", code=status, body=body)

    with pytest.raises(AirbyteError) as refused:
        airbyte.connection(connection)

    assert isinstance(refused.value, outcome)
    assert (error_class(refused.value), refused.value.status_code) == (word, status)
    assert word in CLASSES


@pytest.mark.parametrize(
    ("status", "kind", "is_shared"),
    [
        (401, "", True),
        (403, "error:auth/sso-required", True),
        (403, f"{ERRORS}#invalid-api-key", True),
        (403, f"{ERRORS}#forbidden", False),
        (403, "", False),
    ],
)
def test_only_what_speaks_of_the_credential_concerns_all_who_share(sandbox, http, connection, status, kind, is_shared):  # noqa: PLR0913, PLR0917 - a table
    airbyte = Airbyte(http, "client-of-mine", "secret", f"{sandbox.url}/airbyte/v1", shared=True)
    body = json.dumps({"type": kind, "status": status}) if kind else "<html>gateway</html>"
    sandbox.faults.add("status", path="/airbyte/v1/connections/*", code=status, body=body, times=2)

    with pytest.raises(AuthFailed) as refused:
        airbyte.connection(connection)

    assert (refused.value.credential, refused.value.shared) == ("airbyte", is_shared)


@pytest.mark.parametrize("status", [500, 403, 404])
def test_a_body_that_is_nested_without_end_does_not_hide_what_the_status_says(status):
    assert refusal("GET jobs", status, b"[" * 200_000).status_code == status


def test_a_wait_that_is_asked_for_is_kept(airbyte, sandbox, connection):
    sandbox.faults.add("rate_limit", path="/airbyte/v1/connections/*", retry_after=17)

    with pytest.raises(Throttled) as busy:
        airbyte.connection(connection)

    assert busy.value.after == 17


def test_errors_of_others_have_a_class_too():
    assert error_class(NotSent("gone")) == "network"
    assert error_class(Throttled(after=5)) == "rate_limited"
    assert error_class(AuthFailed()) == "auth"
    assert error_class(ZeroDivisionError()) == "unknown"


@pytest.mark.parametrize(("status", "word"), [(400, "invalid"), (429, "rate_limited"), (500, "server")])
def test_an_answer_of_brackets_alone_keeps_the_class_of_its_status(status, word):
    assert refusal("GET x", status, b"[" * 100_000).error_class == word

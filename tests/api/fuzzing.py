"""Requests that nobody thought of, made from the API's own document and sent to a real server."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from haulwright.api.application import create_api
from tests.api.conftest import Served
from tests.api.scenes import SOURCE, furnish

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def fuzz(
    served: Served,
    *,
    examples: int,
    same_each_time: bool,
    without: Collection[str] = (),
    things: Mapping[str, str] | None = None,
) -> int:
    """Send every operation so many requests: half as it wants them, about what is there; half as it does not.

    `things` says what is there of an application, by the names that paths have for it.

    Returns how many were sent. Whatever is wrong with any of them is told at the end.
    """
    token = served.app.operations().tokens.create("fuzz", role="admin").token
    engine = _words_of_engine(served) if "add" in served.app.tasks else {}
    document = create_api(served.app).openapi()
    schema = schemathesis.openapi.from_dict(document)
    how = _settings(examples // 2, same_each_time=same_each_time)
    sent, faults = 0, []
    with requests.Session() as session:
        headers = {"Authorization": f"Bearer {token}"}
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result.err()
            operation = result.ok()
            if operation.path.endswith("/stream") or operation.definition.raw["operationId"] in without:
                continue  # a stream would go on and on
            for strategy, checks in _strategies(operation, engine, things or {}):

                @how
                @given(strategy)
                def call(case: Case[Any]) -> None:
                    nonlocal sent
                    sent += 1
                    case.call_and_validate(served.address, session, headers, checks=[*CHECKS, *checks])  # noqa: B023 - called at once

                try:
                    call()
                except Unsatisfiable:  # a route that takes nothing cannot be given anything wrong
                    continue
                except (FailureGroup, Failure, AssertionError) as fault:
                    faults.append(f"{operation.label}: {fault}")
    assert not faults, "\n\n".join(faults)
    return sent


def _settings(examples: int, *, same_each_time: bool) -> settings:
    """So many requests of a kind, made up anew or the same each time, and none remembered."""
    return settings(
        max_examples=max(1, examples),
        deadline=None,
        database=None,
        derandomize=same_each_time,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )


def _words_of_engine(served: Served) -> dict[str, str]:
    """What the paths of the engine name, by the beginning of their operations."""
    acme = furnish(served.app, "acme")["acme"]
    return {
        "jobs": acme.job, "dead_letters": acme.dead, "queues": acme.queue, "schedules": acme.schedule,
        "sources": SOURCE, "tokens": acme.token, "bulk": acme.bulk,
    }  # fmt: skip


def _strategies(
    operation: APIOperation[Any, Any, Any, Any], engine: Mapping[str, str], things: Mapping[str, str]
) -> Iterator[tuple[SearchStrategy[Case[Any]], list[Any]]]:
    word = _word(operation, engine)
    names = [parameter.name for parameter in operation.path_parameters]
    named = {name: word or things[name] for name in names if word or name in things}
    yield operation.as_strategy(GenerationMode.POSITIVE, path_parameters=named or None), [ignored_auth]
    yield operation.as_strategy(GenerationMode.NEGATIVE), []


def _word(operation: APIOperation[Any, Any, Any, Any], paths: Mapping[str, str]) -> str:
    noun = str(operation.definition.raw["operationId"])
    return next((word for begin, word in paths.items() if noun.startswith(begin)), "")

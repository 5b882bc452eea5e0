"""Writes the reference page of the HTTP API from the API's own document, with all applications installed.

python tools/http_reference.py           write it
python tools/http_reference.py --check   exit 1 if it is not current
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from haulwright.api.application import create_api
from haulwright.application.application import application
from haulwright.apps.everything import app
from haulwright.discovery import installed_applications
from haulwright.operations import Operations
from haulwright.operations.access import ROLES, VERBS, verb_of
from haulwright.operations.principal import Principal

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "http-api.md"
NOUNS = [name for name, value in vars(Operations).items() if isinstance(value, cached_property)]
PROBLEM = "application/problem+json"
OF_EVERY_ROUTE = frozenset({"400", "401", "403", "408", "422", "429", "431", "503"})
SERVED_ROLES = [role for role in ROLES if role != "system"]
OPENING = """# HTTP API

`haulwright serve` answers at `/api/v1`; the same as OpenAPI 3.1 is at `/api/v1/openapi.json`. Every request needs
`Authorization: Bearer TOKEN`, but for that document and the two at the root. A token says who calls, for which
tenant and in which role; nothing else of a request does. Support names its target and its reason in the headers
`Haulwright-Tenant` and `Haulwright-Reason`; an admin may name them.

```console
$ curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -H "Idempotency-Key: order-17" \\
    -d '{"task": "send_receipt", "args": {"order": 17}}' http://127.0.0.1:8717/api/v1/jobs
{"id":"0199f0c2-6f5e-7d0a-9c40-5a3f6f0e1b2d","created":true}
```

```python
import os

import httpx2

client = httpx2.Client(
    base_url="http://127.0.0.1:8717/api/v1", headers={"Authorization": f"Bearer {os.environ['TOKEN']}"}
)
answer = client.post(
    "/jobs", json={"task": "send_receipt", "args": {"order": 17}}, headers={"Idempotency-Key": "order-17"}
)
job = client.get(f"/jobs/{answer.raise_for_status().json()['id']}").json()
```

- **Problems**: what is refused or fails is answered with `application/problem+json` (RFC 9457): `code` is stable,
  `detail` says what happened, `hint` what to do next, `errors` which place of the request it is. Every route may answer
  400, 401, 403, 408, 422, 429, 431 and 503; they are left out below. An id of another tenant is answered as one that is
  not there: 404.
- **Idempotency-Key**: where a route takes it, it is done once for a key and a tenant; who repeats the request within a
  day gets the same answer, and another request under that key is refused with 409.
- **Pages**: `next` of an answer is the `cursor` of the next request; null at the end. A cursor holds for its own list,
  filter and tenant.
- **ETag**: who sends `If-None-Match` where a route gives one is answered 304 while nothing changed.
- Fields and parameters that a route does not know are refused. In **bold**: what it cannot do without.
"""


def page() -> str:
    """Every route, with who may, what it takes and what it answers."""
    api = create_api(app)
    document = api.openapi()
    endpoints = {route.operation_id: route.endpoint for route in routes_of(api)}
    operations = [
        (operation["tags"][0], f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    lines = [OPENING]
    for tag, group in groupby(operations, key=lambda each: each[0]):
        lines += [f"## {tag.capitalize()}", ""]
        for _, address, operation in group:
            who = _who(operation, endpoints.get(operation["operationId"]))
            lines += [f"### `{address}`", "", f"{operation['summary']}. {who}", ""]
            lines += [*_parameters(operation, document), *_answers(operation, document)]
    return "\n".join(lines).rstrip() + "\n"


def routes_of(router: FastAPI | APIRouter) -> Iterator[APIRoute]:
    """Every route of an API that its document has, those of included routers too."""
    for route in router.routes:
        inner: APIRouter | None = getattr(route, "original_router", None)
        if isinstance(route, APIRoute):
            yield route
        elif inner is not None:
            yield from routes_of(inner)


def verbs_of(endpoint: Callable[..., Any]) -> set[str]:
    """The verbs of the operations that an endpoint calls, by the names that stand in its code."""
    function = getattr(endpoint, "__wrapped__", endpoint)
    names = {*_names(function.__code__)}
    operations = Operations(app, Principal.system())
    owners = [type(getattr(operations, noun)) for noun in NOUNS if noun in names]
    if function.__module__.startswith("haulwright.apps."):
        specs = installed_applications().specs.values()
        owners = [
            type(application(spec.name, app)) for spec in specs if function.__module__.startswith(f"{spec.package}.")
        ]
    verbs = {verb_of(getattr(owner, name, None)) for owner in owners for name in names}
    return {verb for verb in verbs if verb is not None}


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is current."""
    text = page()
    if "--check" in arguments:
        is_current = PAGE.exists() and PAGE.read_text("utf-8") == text
        if not is_current:
            print(f"{PAGE.name} is not current: run python tools/http_reference.py", file=sys.stderr)
        return 0 if is_current else 1
    PAGE.write_text(text, "utf-8")
    return 0


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _who(operation: dict[str, Any], endpoint: Callable[..., Any] | None) -> str:
    if operation.get("security") == []:
        return "For anybody, without a token."
    verbs = set() if endpoint is None else verbs_of(endpoint)
    roles = [role for role in SERVED_ROLES if all(role in VERBS[verb] for verb in verbs)]
    return f"For {' and '.join(roles)}." if len(roles) < len(SERVED_ROLES) else "For everybody with a token."


def _parameters(operation: dict[str, Any], document: dict[str, Any]) -> list[str]:
    rows = [
        (_name(each["name"], required=each.get("required", False)), each["in"], each["schema"], each)
        for each in operation.get("parameters", [])
    ]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        body = _resolved(media["schema"], document)
        required = body.get("required", [])
        rows += [
            (_name(name, required=name in required), "body", schema, schema)
            for name, schema in body.get("properties", {}).items()
        ]
    if not rows:
        return []
    table = [f"| {name} | {where} | {_type(schema)} | {_words(said, schema)} |" for name, where, schema, said in rows]
    return ["| takes | where | type | meaning |", "|---|---|---|---|", *table, ""]


def _answers(operation: dict[str, Any], document: dict[str, Any]) -> list[str]:
    rows = []
    for status, response in operation["responses"].items():
        contents = response.get("content", {})
        is_problem = PROBLEM in contents
        if status in OF_EVERY_ROUTE and is_problem:
            continue
        views = [_view(each["schema"], document) for each in contents.values() if each.get("schema") and not is_problem]
        rows.append(f"- {status}: {'; '.join(views) or response['description']}")
    return [*rows, ""]


def _view(schema: dict[str, Any], document: dict[str, Any]) -> str:
    options = [_resolved(option, document) for option in schema.get("anyOf", [schema])]
    return " or ".join(
        ", ".join(f"`{name}`" for name in option.get("properties", {})) or _type(option) for option in options
    )


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return schema if reference is None else document["components"]["schemas"][reference.rpartition("/")[2]]


def _name(name: str, *, required: bool) -> str:
    return f"**`{name}`**" if required else f"`{name}`"


def _type(schema: dict[str, Any]) -> str:
    """A type in a word or two."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(option) for option in schema["anyOf"] if option.get("type") != "null"))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any JSON")


def _words(said: dict[str, Any], schema: dict[str, Any]) -> str:
    """The meaning, with the range and the default."""
    options = [schema, *schema.get("anyOf", [])]
    meaning = said.get("description") or next((each["description"] for each in options if "description" in each), "")
    low, high = (next((each[key] for each in options if key in each), None) for key in ("minimum", "maximum"))
    bounds = "" if high is None else f"{'up' if low is None else f'{low:g}'} to {int(high):,}"
    default = schema.get("default")
    parts = [meaning.rstrip("."), bounds, "" if default in (None, "", [], {}) else f"default {_default(default)}"]
    return "; ".join(part.replace("|", "\\|") for part in parts if part)


def _default(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What two tenants have in the five applications, with requests for every route about what is theirs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from haulwright import Haulwright
from haulwright.api.application import create_api
from haulwright.api.kit.routes import PREFIX
from haulwright.application.application import install_all
from haulwright.apps.documents.manifest import Item
from haulwright.apps.prices import NewIntake
from haulwright.apps.syncs.connections import NewConnection
from haulwright.engine.ids import new_id
from haulwright.operations.access import VERBS
from haulwright.operations.principal import Principal
from tests.api.operations_of_api import ELSEWHERE, OPEN, VERB_OF
from tests.apps.prices.scenes import json_rules
from tools.http_reference import routes_of, verbs_of

OF_ENGINE = frozenset({*VERB_OF, *ELSEWHERE, *OPEN})
DAY = "2026-08-01"
TOKENS = ("APIFY_TOKEN", "AIRBYTE_API_TOKEN")
"""Variables without which no source is connected."""

Ids = Mapping[str, str]
"""By the names that paths have for them."""


def app_with_all(database_url: str) -> Haulwright:
    """An app with all applications."""
    app = Haulwright(database_url)
    install_all(app)
    app.operations().schema.migrate()
    return app


def furnish_applications(app: Haulwright, *tenants: str) -> dict[str, Ids]:
    """Something of each kind for some tenants, on an app with all applications."""
    assert all(name in os.environ for name in TOKENS)
    return {tenant: _furnish(app.applications, tenant, Principal.of_tenant(tenant)) for tenant in tenants}


def _furnish(applications: Mapping[str, Any], tenant: str, who: Principal) -> Ids:
    brands, brief, syncs, prices, documents = (
        applications[name] for name in ("brands", "brief", "syncs", "prices", "documents")
    )
    brand = brands.add(who, f"{tenant} brand", {"tone": "calm"})
    source = brands.connect(who, brand.id, "web", "pages", f"https://{tenant}.example")
    feed = brief.add(who, f"https://{tenant}.example/feed")
    brief.publish(who, DAY)
    connection = f"{tenant}-shop"
    syncs.add(who, NewConnection(connection, f"airbyte-{tenant}", f"account-{tenant}", f"workspace-{tenant}"))
    prices.put_source(who, f"{tenant}-coins", json_rules(f"https://{tenant}.example"))
    intake = prices.add_intake(who, NewIntake(title=f"{tenant} crown")).intake_id
    document = documents.add(who, Item(f"https://{tenant}.example/report.pdf"))
    return {
        "brand": brand.id, "source_of_brand": source.id, "compile_id": brands.compile(who, brand.id).id,
        "feed": feed.id, "connection": connection, "job_id": syncs.dispatch(who, connection),
        "source": f"{tenant}-coins", "intake": str(intake), "document": document.job_id, "key": document.key,
    }  # fmt: skip


def unknown_to_all(ids: Ids, tenant: str) -> Ids:
    """The same shape, of what nobody has. What says the tenant in its name is told apart by that."""
    absent = {
        name: new_id() if tenant not in value else value.replace(tenant, "x" * len(tenant))
        for name, value in ids.items()
    }
    absent["key"] = "".join(reversed(ids["key"]))
    return absent


@dataclass(frozen=True)
class ApplicationRoute:
    """One method of one path of an application."""

    id: str
    method: str
    path: str
    verbs: frozenset[str]
    body: dict[str, Any] | None
    queries: tuple[str, ...]
    """Parameters that name something of a tenant."""

    @property
    def names_something(self) -> bool:
        """Whether its path leads to something that belongs to somebody."""
        return "{" in self.path and "{day}" not in self.path

    def allows(self, role: str) -> bool:
        """Whether the table of verbs lets a role in."""
        return all(role in VERBS[verb] for verb in self.verbs)

    def request(self, ids: Ids) -> dict[str, Any]:
        """A request about somebody's things, in the words of an HTTP client."""
        url = self.path.format(**ids, day=DAY)
        query = {name: ids[QUERIES[self.id][name]] for name in self.queries}
        # A connection of Airbyte belongs to one tenant alone.
        body = None if self.body is None else json.loads(json.dumps(self.body).replace("CONNECTION", ids["connection"]))
        return {"method": self.method, "url": url, "json": body, "params": query or QUERY.get(self.id)}


BODIES: Mapping[str, dict[str, Any]] = {
    "brands_add": {"name": "Another"},
    "brands_update": {"answers": {"tone": "warm"}},
    "brands_connect": {"platform": "web", "capability": "pages", "identifier": "https://more.example"},
    "brief_add_feed": {"url": "https://more.example/feed"},
    "brief_change_feed": {"name": "Renamed"},
    "documents_add": {"url": "https://more.example/report.pdf"},
    "documents_upload_manifest": {"items": []},
    "prices_add_intake": {"title": "Another crown"},
    "prices_put_source": {"rules": json_rules("https://more.example")},
    "syncs_add_connection": {
        "airbyte_connection_id": "CONNECTION-more",
        "external_account_id": "account-more",
        "workspace_id": "w",
    },
    "syncs_set_plan": {"plan": "growth"},
}
"""What an operation with a body is called with, where an empty one does not do."""
QUERY: Mapping[str, dict[str, str]] = {
    "documents_search": {"words": "report"},
    "documents_upload_manifest": {"name": "list.json"},
}
QUERIES: Mapping[str, dict[str, str]] = {
    "brands_evidence": {"connection": "source_of_brand"},
    "syncs_list_jobs": {"connection": "connection"},
}
"""Parameters of queries that name something, and what."""


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def application_routes(app: Haulwright) -> list[ApplicationRoute]:
    """Every route that the applications declare: what looks first, what takes away last."""
    api = create_api(app)
    endpoints = {route.operation_id: route.endpoint for route in routes_of(api)}
    found = [
        ApplicationRoute(
            operation["operationId"],
            method.upper(),
            path.removeprefix(PREFIX),
            frozenset(verbs_of(endpoints[operation["operationId"]])),
            BODIES.get(operation["operationId"], {}) if "requestBody" in operation else None,
            tuple(QUERIES.get(operation["operationId"], ())),
        )
        for path, methods in api.openapi()["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in OF_ENGINE
    ]
    return sorted(found, key=lambda route: (METHODS.index(route.method), "disable" in route.id))


_TABLES = {
    "sqlite": "select name from sqlite_master where type = 'table'",
    "postgres": "select relname::text from pg_class where relnamespace = current_schema()::regnamespace "
    "and relkind in ('r', 'p') and not relispartition",
}
_COLUMNS = {
    "sqlite": "select name from pragma_table_info('{}')",
    "postgres": "select attname from pg_attribute where attrelid = '{}'::regclass and attnum > 0",
}


def rows_of(app: Haulwright, tenant: str) -> dict[str, list[str]]:
    """Every row that a tenant has in any table, as text."""

    def look(connection: Any) -> dict[str, list[str]]:
        names = [name for (name,) in connection.execute(_TABLES[connection.dialect])]
        own = [name for name in names if ("tenant",) in connection.execute(_COLUMNS[connection.dialect].format(name))]
        sql = f"select * from {{}} where tenant = '{tenant}'"  # noqa: S608 - of a test's own
        return {name: sorted(map(str, connection.execute(sql.format(name)))) for name in own}

    return app.own_store.database.read(look)

"""The workspaces and connections that the world begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haulwright.sandbox.chance import chance, unique

CREATED = 1_735_689_600
"""1 January 2025."""
STATUSES = ("active", "inactive", "deprecated", "locked")

WORKSPACES: dict[str, tuple[tuple[str, str], ...]] = {
    "Northwind Retail": (
        ("Shopify to Warehouse", "active"),
        ("Klaviyo to Warehouse", "active"),
        ("Google Ads to Warehouse", "active"),
        ("Old Magento to Warehouse", "deprecated"),
    ),
    "Harbour Coffee": (
        ("Square to Lake", "active"),
        ("Instagram Insights to Lake", "active"),
        ("Mailchimp to Lake", "inactive"),
    ),
    "Lumen Studio": (
        ("Stripe to Postgres", "active"),
        ("HubSpot to Postgres", "active"),
        ("Zendesk to Postgres", "locked"),
    ),
}


@dataclass(slots=True)
class SandboxConnection:
    """One connection."""

    id: str
    name: str
    workspace: str
    source: str
    destination: str
    status: str
    schedule: dict[str, Any]
    typical_rows: int

    def shape(self) -> dict[str, Any]:
        """The connection as Airbyte writes it."""
        table = self.name.split(" to ")[0].lower().replace(" ", "_")
        return {
            "connectionId": self.id,
            "name": self.name,
            "sourceId": self.source,
            "destinationId": self.destination,
            "workspaceId": self.workspace,
            "status": self.status,
            "schedule": self.schedule,
            "configurations": {"streams": [{"name": f"{table}_events", "syncMode": "incremental_append"}]},
            "createdAt": CREATED,
            "tags": [],
            "dataResidency": "auto",
            "namespaceDefinition": "destination",
            "nonBreakingSchemaUpdatesBehavior": "ignore",
        }


def workspaces(seed: int) -> dict[str, str]:
    """The workspaces: their names by their ids."""
    return {unique(seed, "workspace", name): name for name in WORKSPACES}


def connections(seed: int) -> dict[str, SandboxConnection]:
    """The connections by their ids."""
    connections = [
        make(seed, name, workspace, status)
        for workspace, listed in zip(workspaces(seed), WORKSPACES.values(), strict=True)
        for name, status in listed
    ]
    return {connection.id: connection for connection in connections}


def make(seed: int, name: str, workspace: str, status: str = "active") -> SandboxConnection:
    """A connection of a workspace; the same name there gives the same one."""
    if status not in STATUSES:
        raise ValueError(f"a connection cannot be {status!r}; it can be: {', '.join(STATUSES)}")
    return SandboxConnection(
        id=unique(seed, "connection", workspace, name),
        name=name,
        workspace=workspace,
        source=unique(seed, "source", workspace, name),
        destination=unique(seed, "destination", workspace),
        status=status,
        schedule={"scheduleType": "manual"},
        typical_rows=chance(seed, workspace, name).randint(200, 90_000),
    )

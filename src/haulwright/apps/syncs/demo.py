"""Airbyte connections: one sync each, although Airbyte says not now and a worker dies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from haulwright import Principal
from haulwright.application.scenario import Act, Check, Reached
from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.connections import NewConnection
from haulwright.sandbox import Sandbox

SYNC_SECONDS: Final = 3


class SyncsAct(Act):
    """A sync of every connection that is active."""

    name: ClassVar[str] = "syncs"
    promise: ClassVar[str] = "seven Airbyte connections are synced; Airbyte answers 429 on the way"

    @staticmethod
    def environment(sandbox: Sandbox, folder: Path) -> Mapping[str, str]:  # noqa: ARG004 - as the class above says
        """Polite figures are for other people's servers: here nobody has a minute to wait."""
        return {
            "AIRBYTE_BASE_URL": f"{sandbox.url}/airbyte/v1",
            "AIRBYTE_CLIENT_ID": "demo",
            "AIRBYTE_CLIENT_SECRET": "demo",
            "SYNCS_POLL": "1 s",
            "SYNCS_MIN_INTERVAL": "1 s",
            "SYNCS_ACCOUNT_RATE": "60/min",
            "SYNCS_API_RATE": "1200/min",
        }

    def begin(self) -> None:
        """Add the connections, and ask for a sync of each."""
        sandbox, tenant = self.world.sandbox, self.world.tenant
        sandbox.airbyte.script(times=100, duration_seconds=SYNC_SECONDS)
        sandbox.faults.add("rate_limit", path="/airbyte/v1/jobs", method="POST", retry_after=2, skip=3)
        syncs = Syncs.on(self.world.app)
        who = self.world.principal
        syncs.set_plan(Principal.admin("demo").for_tenant(tenant), "enterprise")
        connections = sandbox.airbyte.connections.values()
        self._active = [connection for connection in connections if connection.status == "active"]
        self._jobs = []
        for connection in self._active:
            name = connection.name.lower().replace(" ", "-")
            syncs.add(who, NewConnection(name, connection.id, f"{tenant}-{name}", connection.workspace))
            self._jobs.append(syncs.dispatch(who, name))

    def look(self) -> Reached:
        """Syncs that are over."""
        return Reached(self.world.ended(self._jobs), len(self._jobs))

    def checks(self) -> list[Check]:
        """Every sync succeeded, and Airbyte ran one for each connection."""
        good, total = self.world.succeeded(self._jobs), len(self._jobs)
        runs = [len(self.world.sandbox.airbyte.jobs(connection.id)) for connection in self._active]
        return [
            Check("syncs: connections synced", f"{good} of {total}", good == total),
            Check("syncs: runs at Airbyte, one for each", str(sum(runs)), runs == [1] * total),
        ]

    def commands(self) -> list[str]:
        """The connections, and how their syncs went."""
        return [f"sync list --tenant {self.world.tenant} --jobs", "sync stats"]


ACT: Final = SyncsAct

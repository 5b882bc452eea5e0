"""Airbyte connections: one sync each, although Airbyte says not now and a worker dies."""

from __future__ import annotations

from typing import ClassVar, Final

from penstock.apps.syncs.application import Syncs
from penstock.apps.syncs.connections import NewConnection
from penstock.cli.acts.act import Act, Check, Reached
from penstock.client.principal import Principal

SYNC_SECONDS: Final = 3


class SyncsAct(Act):
    """A sync of every connection that is active."""

    name: ClassVar[str] = "syncs"
    promise: ClassVar[str] = "seven Airbyte connections are synced; Airbyte answers 429 on the way"

    def begin(self) -> None:
        """Add the connections, and ask for a sync of each."""
        sandbox, tenant = self.world.sandbox, self.world.tenant
        sandbox.airbyte.script(times=100, duration_seconds=SYNC_SECONDS)
        sandbox.faults.add("rate_limit", path="/airbyte/v1/jobs", method="POST", retry_after=2, skip=3)
        syncs = Syncs.on(self.world.app)
        syncs.connections.set_plan(tenant, "enterprise", actor="demo")
        self._active = [one for one in sandbox.airbyte.connections.values() if one.status == "active"]
        self._jobs = []
        for one in self._active:
            name = one.name.lower().replace(" ", "-")
            syncs.add(tenant, NewConnection(name, one.id, f"{tenant}-{name}", one.workspace), actor="demo")
            self._jobs.append(syncs.dispatch(name, Principal.of_tenant(tenant)))

    def look(self) -> Reached:
        """Syncs that are over."""
        return Reached(self.world.ended(self._jobs), len(self._jobs))

    def checks(self) -> list[Check]:
        """Every sync succeeded, and Airbyte ran one for each connection."""
        good, wanted = self.world.succeeded(self._jobs), len(self._jobs)
        runs = [len(self.world.sandbox.airbyte.jobs(one.id)) for one in self._active]
        return [
            Check("syncs: connections synced", f"{good} of {wanted}", good == wanted),
            Check("syncs: runs at Airbyte, one for each", str(sum(runs)), runs == [1] * wanted),
        ]

    def commands(self) -> list[str]:
        """The connections, and how their syncs went."""
        return [f"sync list --tenant {self.world.tenant} --jobs", "sync stats"]

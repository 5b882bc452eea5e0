"""Who looks at the fleet, and an app with a schedule of each tenant."""

from __future__ import annotations

from haulwright import Haulwright, Principal
from haulwright.engine.ids import new_id
from haulwright.stores.workers import Identity

ACME = Principal.of_tenant("acme")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
ADMIN = Principal.admin("root", "maintenance")
SYSTEM = Principal.system()

app = Haulwright()


@app.task()
def tick() -> None: ...


app.schedule("acme-hourly", "0 * * * *", tick, tenant="acme", overlap="allow")
app.schedule("globex-hourly", "0 * * * *", tick, tenant="globex")
app.schedule("nightly", "30 2 * * *", tick, tz="Europe/Berlin")


def worker(number: int = 1) -> Identity:
    """A worker process that starts now."""
    return Identity(new_id(), f"w{number}", "alpha", "b1", number, "100", "0.1")

"""What the lists of the API take beside a long history: for a tenant, for one that has nothing yet, and for all."""

from __future__ import annotations

from bench import filling, http_client
from bench.figures import MILLISECONDS, Series
from bench.lane import Bench
from bench.payload import item
from bench.scenarios.api import served
from bench.workload import app, noop, reset, work

TENANTS = 200
DEAD_EVERY = 50
"""One job in so many of the history is dead."""
OF_TENANTS = (
    "/jobs", "/jobs?q=state:dead", "/jobs?q=state:cancelled", "/jobs?q=state:queued", "/jobs?q=state:running",
    "/jobs?q=task:noop", "/jobs?q=queue:default", "/jobs?q=age:%3C1h", "/jobs?stuck=true", "/dead-letters",
    "/dead-letters/counts", "/dead-letters/groups", "/events", "/events?name=job.cancelled", "/overview",
)  # fmt: skip
LISTS = {
    "tenant": OF_TENANTS,
    "new tenant": OF_TENANTS,
    "admin": (*OF_TENANTS, "/queues", "/schedules", "/sources", "/workers", "/effects/unresolved"),
}
SLOWEST = "slowest list, p95"


def lists(bench: Bench, database: str) -> list[Series]:
    """The p95 of each list, and of the slowest."""
    scenario = f"lists {database}"
    address = bench.site.address(database, f"lists_{database}")
    count = bench.plan.history if database == "postgres" else bench.plan.history // 5
    found: dict[str, float] = {}
    with app.moved_to(address):
        reset()
        noop.using(tenant="tenant-000").enqueue(item(0))
        work({"until_empty": True})
        noop.using(tenant="tenant-000").enqueue(item(1))
        filling.mixed_history(address, count, tenants=TENANTS, dead_every=DEAD_EVERY)
        filling.backlog(address, bench.plan.loaded_backlog)
        tokens = app.operations().tokens
        callers = {
            "tenant": tokens.create("bench", tenant="tenant-000").token,
            "new tenant": tokens.create("bench", tenant="new").token,
            "admin": tokens.create("bench", role="admin").token,
        }
        filling.events(address, count, tenants=TENANTS)
        with served(address) as (url, _, _):
            for role, token in callers.items():
                for path in LISTS[role]:
                    looks = [http_client.look(url, token, f"/api/v1{path}")] * bench.plan.list_looks
                    _, taken = http_client.send_all(url, looks, 1, status=200)
                    found[f"{path}, {role}"] = sorted(taken)[int(len(taken) * 0.95)]
    slowest = max(found, key=lambda name: found[name])
    bench.say(f"  {scenario}: slowest is {slowest}: {found[slowest]:,.1f} ms")
    for name, p95 in sorted(found.items(), key=lambda one: -one[1])[:5]:
        bench.say(f"    {name}: {p95:,.1f} ms")
    series = [Series(scenario, name, MILLISECONDS, (p95,), jobs=count) for name, p95 in found.items()]
    return [Series(scenario, SLOWEST, MILLISECONDS, (found[slowest],), jobs=count), *series]

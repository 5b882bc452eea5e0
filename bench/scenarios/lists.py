"""What the lists of the API take beside a long history: for a tenant, for one that has nothing yet, and for all."""

from __future__ import annotations

from bench.figures import Series
from bench.lane import Bench
from bench.scenarios.long_history import long_history, slowest_first

OF_TENANTS = (
    "/jobs", "/jobs?q=state:dead", "/jobs?q=state:cancelled", "/jobs?q=state:queued", "/jobs?q=state:running",
    "/jobs?q=task:noop", "/jobs?q=queue:default", "/jobs?q=age:%3C1h", "/jobs?stuck=true", "/dead-letters",
    "/dead-letters/counts", "/dead-letters/groups", "/events", "/events?name=job.cancelled", "/overview",
)  # fmt: skip
OF_ADMINS = (*OF_TENANTS, "/queues", "/schedules", "/sources", "/workers", "/effects/unresolved")
SLOWEST = "slowest list, p95"


def lists(bench: Bench, database: str) -> list[Series]:
    """The p50 and the p95 of each list, and the p95 of the slowest."""
    scenario = f"lists {database}"
    with long_history(bench, database, bench.site.address(database, f"lists_{database}")) as there:
        callers = (
            ("tenant", there.tenant, OF_TENANTS),
            ("new tenant", there.newcomer, OF_TENANTS),
            ("admin", there.admin, OF_ADMINS),
        )
        looks = {
            f"{path}, {caller}": there.look(token, f"/api/v1{path}", bench.plan.list_looks)
            for caller, token, paths in callers
            for path in paths
        }
    return slowest_first(bench, scenario, SLOWEST, looks)

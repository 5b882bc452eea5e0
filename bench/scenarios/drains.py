"""How fast a backlog of no-op jobs is drained, by Penstock, by its raw loop, and by its peers."""

from __future__ import annotations

from bench.contenders import Contender, peers, penstock, penstock_plain, raw
from bench.contest import alternate, pair
from bench.figures import Series
from bench.filling import park
from bench.lane import Bench, Lane

BASE = "Penstock"
TENANTS = "Penstock, many tenants"
PARKED = "Penstock, many parked jobs"


def drain(bench: Bench, database: str) -> list[Series]:
    """All contenders of one database, next to each other."""
    ours: list[Contender] = [raw(database), penstock(database), penstock_plain(database)]
    ours += [raw(database).twice(), penstock(database).twice()]
    others = peers("postgres", "redis") if database == "postgres" else peers("sqlite")
    return alternate(bench, f"drain {database}", [*ours, *others])


def tenants(bench: Bench, database: str) -> list[Series]:
    """One tenant against many."""
    many = penstock(database, name=TENANTS, filling={"tenants": bench.plan.tenants})
    return pair(bench, f"tenants {database}", penstock(database), many)


def parked(bench: Bench, database: str) -> list[Series]:
    """Nothing parked against many jobs of the best priority that are not due for long."""

    def measure(one: Lane) -> float:
        one.prepare(one.jobs)
        if one.contender.name == PARKED:
            park(one.address, bench.plan.parked)
        return one.drain(one.jobs)

    return pair(bench, f"parked {database}", penstock(database), penstock(database, name=PARKED), measure)

"""How fast a backlog of no-op jobs is drained, by Haulwright, by its raw loop, and by its peers."""

from __future__ import annotations

from bench.contenders import Contender, haulwright, haulwright_plain, peers, raw
from bench.contest import alternate, pair
from bench.figures import Series
from bench.filling import park
from bench.lane import Bench, Lane

BASE = "Haulwright"
TENANTS = "Haulwright, many tenants"
PARKED = "Haulwright, many parked jobs"


def drain(bench: Bench, database: str) -> list[Series]:
    """All contenders of one database, next to each other."""
    ours: list[Contender] = [raw(database), haulwright(database), haulwright_plain(database)]
    ours += [raw(database).twice(), haulwright(database).twice()]
    others = peers("postgres", "redis") if database == "postgres" else peers("sqlite")
    return alternate(bench, f"drain {database}", [*ours, *others])


def tenants(bench: Bench, database: str) -> list[Series]:
    """One tenant against many."""
    many = haulwright(database, name=TENANTS, filling={"tenants": bench.plan.tenants})
    return pair(bench, f"tenants {database}", haulwright(database), many)


def parked(bench: Bench, database: str) -> list[Series]:
    """Nothing parked against many jobs of the best priority that are not due for long."""

    def measure(one: Lane) -> float:
        one.prepare(one.jobs)
        if one.contender.name == PARKED:
            park(one.address, bench.plan.parked)
        return one.drain(one.jobs)

    return pair(bench, f"parked {database}", haulwright(database), haulwright(database, name=PARKED), measure)

"""A house in which something happened: jobs that wait, that died, that are in doubt, schedules, a source, tokens."""

from __future__ import annotations

from dataclasses import dataclass

from haulwright import Haulwright, Principal
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import Bury
from haulwright.engine.source import source_limits
from tests.stores.scenes import claim_one, new_job, settle

SOURCE = "shop.example"


@dataclass(frozen=True)
class Belongings:
    """What one tenant has in the house."""

    tenant: str
    job: str
    dead: str
    queue: str
    """One that nobody else uses."""
    schedule: str
    effect: str
    token: str
    bulk: str
    """A bulk action that waits."""


def furnish(app: Haulwright, *tenants: str) -> dict[str, Belongings]:
    """The belongings of some tenants, made on an app with the task `add`."""
    app.store.sources.declare(SOURCE, source_limits(rate="30/min", concurrency=2))
    made = {}
    for tenant in tenants:
        schedule = f"{tenant}-hourly"
        app.schedule(schedule, "0 * * * *", app.tasks["add"], args={"a": 1}, tenant=tenant)
        app.store.schedules.declare(*app.schedules[schedule])
        effect = f"pay-{tenant}"
        dead = bury(app, tenant, effect)
        queue = f"{tenant}-queue"
        job = app.operations().jobs.enqueue("add", {"a": 1}, tenant=tenant).id
        app.operations().jobs.enqueue("add", {"a": 1}, tenant=tenant, queue=queue)
        token = app.operations().tokens.create(f"program of {tenant}", tenant=tenant).row.prefix
        bulk = app.operations(Principal.admin("app").for_tenant(tenant)).bulk.start("cancel", "task:none").job.id
        made[tenant] = Belongings(tenant, job, dead, queue, schedule, effect, token, bulk)
    return made


def bury(app: Haulwright, tenant: str, effect: str | None = None, *, reason: str = "effect_unknown") -> str:
    """A dead letter, where named with an effect of which nobody knows whether it happened."""
    job = new_job(tenant=tenant, queue="graves")
    app.store.jobs.enqueue([job])
    lease = claim_one(app.store, new_id(), queue="graves")
    if effect is not None:
        app.store.effects.begin(lease, effect, "pay")
        app.store.effects.mark_unknown(lease, effect, "pay")
    settle(app.store, lease, Bury(reason))
    return job.id

"""`haulwright sync`: the Airbyte connections of tenants, their plans and their syncs."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import click

from haulwright.apps.syncs import SPEC
from haulwright.apps.syncs.views import STAT_HEADERS, connection_document, connection_row, job_row
from haulwright.cli.kit.output import Fields, Table
from haulwright.cli.kit.params import JOB_ID
from haulwright.cli.kit.verbs import NounGroup
from haulwright.cli.run import warn
from haulwright.errors import InvalidValue, NotFound
from haulwright.operations.views.events import event_view
from haulwright.operations.views.jobs import why_view

if TYPE_CHECKING:
    from haulwright import Principal
    from haulwright.apps.syncs.application import Syncs
    from haulwright.cli.kit.site import Site

PLANS = ("free", "growth", "enterprise")
STATUSES = ("queued", "running", "failed", "dead_letter", "success", "cancelled", "skipped")
LATEST = 20
MOST_LISTED = 1000
CONNECTION_HEADERS = ("tenant", "connection", "account", "every", "enabled", "due", "synced", "credential")
JOB_HEADERS = ("job", "connection", "status", "retries", "run", "records", "seconds", "error")
READY_APP = "haulwright.apps.syncs.worker:app"

command = NounGroup("sync", help=SPEC.summary, makes_database=("plan", "add"))
tenant_option = click.option("--tenant", required=True, help="Whose connection it is.")


@command.command("plan")
@click.argument("plan", required=False, type=click.Choice(PLANS))
@click.option("--tenant", required=True, help="Whose plan it is.")
@click.pass_obj
def plan_(site: Site, plan: str | None, tenant: str) -> None:
    """Show the plan of a tenant, or give it another; its connections keep to it at once."""
    syncs, principal = site.application("syncs", reads=plan is None), site.principal().for_tenant(tenant)
    count = None if plan is None else syncs.set_plan(principal, plan)
    name = syncs.get_plan(principal).name
    sentence = f"{tenant} is on the plan {name}." if count is None else f"{tenant} is on the plan {name} now."
    site.out.show({"tenant": tenant, "plan": name, "connections": count}, sentence)


@command.command("add")
@click.argument("airbyte_id", metavar="AIRBYTE_CONNECTION")
@tenant_option
@click.option("--account", required=True, metavar="ID", help="The external account that is read, such as shop-456.")
@click.option("--name", metavar="ID", help="What to call the connection; else as Airbyte does.")
@click.option("--workspace", metavar="ID", help="Its workspace; else AIRBYTE_WORKSPACE_ID.")
@click.option("--every", metavar="TIME", help="How often, such as '6 h'; else as often as the plan allows.")
@click.option("--credential", default="shared", show_default=True, metavar="NAME", help="Whose credential it is.")
@click.option("--disabled", is_flag=True, help="Know it, and leave it alone for now.")
@click.option("--unchecked", is_flag=True, help="Do not ask Airbyte about it first.")
@click.pass_obj
def add(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site,
    airbyte_id: str,
    *,
    tenant: str,
    account: str,
    name: str | None,
    workspace: str | None,
    every: str | None,
    credential: str,
    disabled: bool,
    unchecked: bool,
) -> None:
    """Have an Airbyte connection synced from now on. The first sync is due at once."""
    from haulwright.apps.syncs.connections import NewConnection  # noqa: PLC0415 - only where it is needed

    new = NewConnection(name or airbyte_id, airbyte_id, account, workspace, every, credential, enabled=not disabled)
    connection = site.application("syncs").add(site.principal().for_tenant(tenant), new, check=not unchecked)
    sentence = f"The connection {connection.connector_id} of {tenant} is synced from now on."
    site.out.show(connection_document(connection), sentence)
    site.out.next_step(f"haulwright worker -A {READY_APP} --queues syncs")


@command.command("enable")
@click.argument("connection")
@tenant_option
@click.option("--off", is_flag=True, help="Leave it alone until it is enabled again.")
@click.pass_obj
def enable(site: Site, connection: str, *, tenant: str, off: bool) -> None:
    """Sync a connection again, or with --off leave it alone. A sync that is under way goes on."""
    syncs, principal = site.application("syncs"), site.principal().for_tenant(tenant)
    document = connection_document(syncs.enable(principal, connection, enabled=not off))
    site.out.show(document, f"The connection {connection} is {'disabled' if off else 'enabled'}.")


@command.command("remove")
@click.argument("connection")
@tenant_option
@click.option("--cancel", is_flag=True, help="Cancel its sync as well, where one is not finished.")
@click.pass_obj
def remove(site: Site, connection: str, *, tenant: str, cancel: bool) -> None:
    """Sync a connection no more, and forget it. Its past syncs stay; at Airbyte nothing is deleted."""
    job_id = site.application("syncs").remove(site.principal().for_tenant(tenant), connection, cancel=cancel)
    ending = f", and its sync {job_id} is cancelled." if job_id else "."
    document = {"tenant_id": tenant, "connector_id": connection, "cancelled": job_id}
    site.out.show(document, f"The connection {connection} is removed{ending}")


@command.command("dispatch")
@click.argument("connection")
@tenant_option
@click.option("--correlation-id", metavar="ID", help="The ticket or trace that the job carries.")
@click.option("--as-support", metavar="NAME", help="Act as support, who may sync sooner than the plan says.")
@click.option("--reason", default="", help="Why support does it; it is recorded.")
@click.pass_obj
def dispatch(  # noqa: PLR0913 - as above
    site: Site, connection: str, *, tenant: str, correlation_id: str | None, as_support: str | None, reason: str
) -> None:
    """Enqueue a sync now, as the tenant or as support, and print its job."""
    who = _principal(tenant, as_support, reason)
    job_id = site.application("syncs").dispatch(who, connection, correlation_id=correlation_id)
    warn(site, job_id, ready_app=READY_APP)
    site.out.show({"job_id": job_id, "tenant_id": tenant, "connector_id": connection}, job_id)


@command.command("list")
@click.option("--tenant", help="Only those of this tenant.")
@click.option("--jobs", is_flag=True, help="The newest syncs of a tenant instead of its connections.")
@click.option("--status", type=click.Choice(STATUSES), help="With --jobs: only those.")
@click.option("--limit", default=LATEST, show_default=True, help=f"At most so many, up to {MOST_LISTED}.")
@click.pass_obj
def list_(site: Site, *, tenant: str | None, jobs: bool, status: str | None, limit: int) -> None:
    """List connections with their cadence and when they are due; with --jobs, the syncs of a tenant."""
    if not 1 <= limit <= MOST_LISTED:
        raise InvalidValue("--limit", limit, f"is not between 1 and {MOST_LISTED}")
    syncs = site.application("syncs")
    principal = site.principal() if tenant is None else site.principal().for_tenant(tenant)
    if jobs:
        if tenant is None:
            raise click.UsageError("Jobs are listed for one tenant: add --tenant.")
        rows = syncs.list_jobs(principal, status=status, limit=limit)
        site.out.show({"jobs": rows}, Table(JOB_HEADERS, [job_row(row) for row in rows], "No syncs."))
        return
    now = site.now()
    connections = list(islice(syncs.list_connections(principal), limit))
    lines = [connection_row(site.out, connection, now) for connection in connections]
    document = {"connections": [connection_document(connection) for connection in connections]}
    site.out.show(document, Table(CONNECTION_HEADERS, lines, "No connections.", ("credential", "account")))


@command.command("show")
@click.argument("name", metavar="CONNECTION|JOB")
@tenant_option
@click.pass_obj
def show(site: Site, name: str, tenant: str) -> None:
    """Show one connection with its newest syncs, or one sync with everything that happened to it."""
    syncs, principal = site.application("syncs"), site.principal().for_tenant(tenant)
    connection = syncs.find_connection(principal, name)
    if connection is None:
        _show_job(site, syncs, principal, name)
        return
    jobs = syncs.list_jobs(principal, connector_id=name, limit=LATEST)
    document = connection_document(connection) | {"jobs": jobs}
    fields = [(key, value) for key, value in document.items() if key != "jobs"]
    rows = [job_row(job) for job in jobs]
    site.out.show(document, Fields(fields), "", Table(JOB_HEADERS, rows, "No syncs yet."))


@command.command("requeue")
@click.argument("job_id", type=JOB_ID, metavar="JOB")
@click.option("--tenant", required=True, help="Whose dead letter it is.")
@click.option("--as-support", required=True, metavar="NAME", help="Who does it: requeueing takes support.")
@click.option("--reason", required=True, help="Why; it is recorded.")
@click.option("--correlation-id", metavar="ID", help="The ticket that the new job carries.")
@click.pass_obj
def requeue(  # noqa: PLR0913 - as above
    site: Site, job_id: str, *, tenant: str, as_support: str, reason: str, correlation_id: str | None
) -> None:
    """Give the dead letter of a sync another life, as a new job that is linked to it. It can be done once."""
    who = _principal(tenant, as_support, reason)
    job = site.application("syncs").requeue(who, job_id, correlation_id=correlation_id)
    site.out.show({"job_id": job.id, "requeued_from": job_id}, job.id)


@command.command("stats")
@click.option("--tenant", help="Only those of this tenant.")
@click.pass_obj
def stats(site: Site, tenant: str | None) -> None:
    """Count syncs by state, connection and error: success, duration, dead letters, retries, and what is stuck."""
    principal = site.principal() if tenant is None else site.principal().for_tenant(tenant)
    answers = site.application("syncs").get_stats(principal)
    parts: list[Table | str] = []
    for name, rows in cast("dict[str, list[dict[str, Any]]]", answers).items():
        parts += [STAT_HEADERS[name], _table(rows), ""] if rows else [f"{STAT_HEADERS[name]}: none", ""]
    site.out.show(answers, *parts[:-1])


def _table(rows: list[dict[str, Any]]) -> Table:
    cells = [tuple("" if value is None else value for value in row.values()) for row in rows]
    return Table(tuple(word.replace("_", " ") for word in rows[0]), cells)


def _show_job(site: Site, syncs: Syncs, principal: Principal, name: str) -> None:
    try:
        sync = syncs.get_job(principal, name)
    except NotFound:
        hint = f"Try: haulwright sync list --tenant {principal.tenant}"
        raise NotFound("connection or sync", name, hint=hint) from None
    jobs = site.operations(principal).jobs
    events, why = jobs.timeline(name).rows, jobs.why(name)
    document = sync | {"events": [event_view(event) for event in events], "why": why_view(why)}
    now = site.now()
    rows = [
        (event.name, site.out.when(event.at, now), event.attempt or "", event.worker or event.actor or "")
        for event in events
    ]
    site.out.show(
        document, Fields(list(sync.items())), "", why.sentence, Table(("event", "when", "attempt", "by"), rows)
    )
    site.out.next_step(why.next_step)


def _principal(tenant: str, as_support: str | None, reason: str) -> Principal:
    from haulwright import Principal  # noqa: PLC0415 - only where somebody acts

    if as_support is None:
        return Principal.of_tenant(tenant)
    return Principal.support(as_support, tenant=tenant, reason=reason)

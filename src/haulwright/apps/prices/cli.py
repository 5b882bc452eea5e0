"""`haulwright price`: intakes, the sources they are priced by, price points, and what they say something is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from haulwright.apps.prices import SPEC
from haulwright.apps.prices.views import (
    JOB_HEADERS,
    POINT_HEADERS,
    ValuationView,
    by_weight,
    job_row,
    left_out_text,
    point_row,
    source_document,
    source_row,
    worth,
)
from haulwright.cli.kit.output import Fields, Table, write
from haulwright.cli.kit.params import pairs
from haulwright.cli.kit.verbs import NounGroup
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import InvalidValue, NotFound
from haulwright.visible import visible_json

if TYPE_CHECKING:
    from haulwright import Principal
    from haulwright.apps.prices.application import Prices
    from haulwright.apps.prices.intakes import Intake
    from haulwright.cli.kit.site import Site

Function = TypeVar("Function", bound=Callable[..., Any])
LATEST = 20
MOST_LISTED = 1_000
LARGEST_RULES_BYTES = 256 * 1024
FORMATS = ("csv", "json", "svg")
INTAKE_HEADERS = ("tenant", "intake", "what", "worth", "low", "high", "points", "confidence", "valued")
SOURCE_HEADERS = (
    "tenant",
    "source",
    "enabled",
    "per minute",
    "failures",
    "last success",
    "last failure",
    "paused until",
)

command = NounGroup("price", help=SPEC.summary, makes_database=("add", "source"))


def for_tenant(function: Function) -> Function:
    """The option that says whose intakes and sources are meant."""
    return click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose it is.")(function)


@command.command("add")
@click.argument("title", required=False)
@click.option("--id", "intake_id", metavar="ID", help="What to call the intake; else a new id.")
@click.option("--year", help="Its year.")
@click.option("--mintmark", help="Its mintmark.")
@click.option("--denomination", help="Its denomination.")
@click.option("--series", help="Its series.")
@click.option("--set", "texts", multiple=True, metavar="NAME=VALUE", help="Any other attribute; repeatable.")
@click.option("--currency", metavar="CODE", help="Of its valuation; else the one that most prices are in.")
@for_tenant
@click.pass_obj
def add(site: Site, /, *, texts: tuple[str, ...], tenant: str, **described: str | None) -> None:
    """Have something valued from now on: by its TITLE, or by what describes it. Prints the id of the intake."""
    from haulwright.apps.prices.export import intake_document  # noqa: PLC0415 - only where it is needed
    from haulwright.apps.prices.intakes import NewIntake  # noqa: PLC0415 - as above

    new = NewIntake(**described, attributes=pairs(texts, what="--set"))
    intake = site.application("prices").add_intake(site.principal().for_tenant(tenant), new)
    site.out.show(intake_document(intake), intake.intake_id)
    site.out.next_step(f"haulwright price collect {intake.intake_id} --tenant {tenant}")


@command.command("source")
@click.argument("name", required=False)
@click.option("--rules", type=click.File("rb"), help="A TOML file: where it answers and how it is read; - is stdin.")
@click.option("--on/--off", "enabled", default=None, help="Collect from it again, or leave it alone.")
@for_tenant
@click.pass_obj
def source_(site: Site, /, name: str | None, *, rules: IO[bytes] | None, enabled: bool | None, tenant: str) -> None:
    """Show how sources stand; with --rules configure the one called NAME, with --off leave it alone."""
    reads = rules is None and enabled is None
    prices, principal = site.application("prices", reads=reads), site.principal().for_tenant(tenant)
    if name is None:
        if rules is not None or enabled is not None:
            raise click.UsageError("Say which source: haulwright price source NAME ...")
        sources = prices.list_sources(principal)
        table = Table(SOURCE_HEADERS, [source_row(source) for source in sources], "No sources.")
        site.out.show({"sources": sources}, table)
        return
    if rules is not None:
        prices.put_source(principal, name, _rules(rules))
    if enabled is not None:
        prices.enable_source(principal, name, enabled=enabled)
    document = source_document(prices.get_source(principal, name), prices.list_sources(principal))
    fields = [(key, value) for key, value in document.items() if key != "rules"]
    site.out.show(document, Fields([*fields, ("url", document["rules"]["url"])]))


@command.command("collect")
@click.argument("intake", required=False)
@click.option("--all", "every", is_flag=True, help="For every intake of the tenant.")
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Only from this source; repeatable.")
@click.option("--query", "texts", multiple=True, metavar="NAME=VALUE", help="Ask with this value instead; repeatable.")
@for_tenant
@click.pass_obj
def collect(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, /, intake: str | None, *, every: bool, sources: tuple[str, ...], texts: tuple[str, ...], tenant: str
) -> None:
    """Enqueue one job for each source of an INTAKE, and print them. One that is active already stands."""
    if (intake is None) == (not every):
        raise click.UsageError("Name an intake, or say --all.")
    prices, principal, names = site.application("prices"), site.principal().for_tenant(tenant), sources or None
    if intake is None:
        created = prices.collect_all(principal, sources=names)
        site.out.show({"created": created}, f"{created} new jobs.")
    else:
        jobs = prices.collect(principal, intake, sources=names, query_params=pairs(texts, what="--query"))
        document = [{"job_id": job.id, "created": job.created} for job in jobs]
        site.out.show({"jobs": document}, "\n".join(job.id for job in jobs))
    site.out.next_step("haulwright worker -A haulwright.apps.prices.worker:app --queues prices")


@command.command("list")
@click.option("--tenant", help="Only those of this tenant.")
@click.option("--limit", default=LATEST, show_default=True, help=f"At most so many, up to {MOST_LISTED}.")
@click.pass_obj
def list_(site: Site, *, tenant: str | None, limit: int) -> None:
    """List intakes with what they are worth."""
    from haulwright.apps.prices.export import intake_document, valuation_document  # noqa: PLC0415 - as above

    if not 1 <= limit <= MOST_LISTED:
        raise InvalidValue("--limit", limit, f"is not between 1 and {MOST_LISTED}")
    principal = site.principal() if tenant is None else site.principal().for_tenant(tenant)
    intakes, now = site.application("prices").list_intakes(principal, limit), site.now()
    rows = []
    for intake, valued in intakes:
        when = "" if valued is None else site.out.when(valued.valued_at, now)
        rows.append((intake.tenant, intake.intake_id, intake.words, *worth(valued), when))
    document = [{**intake_document(intake), "valuation": valuation_document(valued)} for intake, valued in intakes]
    site.out.show({"intakes": document}, Table(INTAKE_HEADERS, rows, "No intakes.", ("low", "high")))


@command.command("show")
@click.argument("name", metavar="INTAKE|JOB")
@click.option("--limit", default=LATEST, show_default=True, help="At most so many price points.")
@for_tenant
@click.pass_obj
def show(site: Site, name: str, *, limit: int, tenant: str) -> None:
    """Show what an intake is worth and why, the price points that count first, and its jobs; or one job."""
    prices, principal = site.application("prices"), site.principal().for_tenant(tenant)
    intake = prices.find_intake(principal, name)
    if intake is None:
        _show_job(site, prices, principal, name)
        return
    document = _everything(prices, principal, intake)
    points = by_weight(prices.list_points(principal, name), prices.find_valuation(principal, name))[:limit]
    fields: list[tuple[str, object]] = [
        ("intake", intake.intake_id),
        ("what", intake.words),
        *intake.described.items(),
        *_valuation_fields(document["valuation"]),
    ]
    rows = [point_row(point, counts) for point, counts in points]
    bad = [(item["source_id"], item["page"], item["place"], item["reason"]) for item in document["quarantine"]]
    parts: list[Table | Fields | str] = [Fields(fields), "", Table(POINT_HEADERS, rows, "No price points yet."), ""]
    parts.append(Table(JOB_HEADERS, [job_row(job) for job in document["jobs"]], "Nothing was collected yet."))
    if bad:
        parts += ["", Table(("source", "page", "item", "cannot be used"), bad)]
    site.out.show(document, *parts)


@command.command("export")
@click.argument("intake")
@click.option("--format", "form", type=click.Choice(FORMATS), default="csv", show_default=True, help="What to write.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to; else on stdout.")
@for_tenant
@click.pass_obj
def export(site: Site, intake: str, *, form: str, output: Path | None, tenant: str) -> None:
    """Export all price points of an INTAKE as CSV or JSON, or its chart as SVG."""
    prices, principal = site.application("prices"), site.principal().for_tenant(tenant)
    record = prices.get_intake(principal, intake)
    text = _exported(prices, principal, record, "json" if site.out.as_json else form)
    if output is None:
        write(text, newline=False)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidValue("--output", str(output), f"cannot be written: {error.strerror}") from None
    site.out.note(f"Written: {output}")


def _exported(prices: Prices, principal: Principal, intake: Intake, form: str) -> str:
    from haulwright.apps.prices.chart import chart  # noqa: PLC0415 - as above
    from haulwright.apps.prices.export import point_document, points_csv  # noqa: PLC0415 - as above

    points = prices.list_history(principal, intake.intake_id)
    if form == "csv":
        return points_csv(points)
    if form == "svg":
        valued = prices.find_valuation(principal, intake.intake_id)
        valuation = valued.valuation if valued else prices.value_anew(principal, intake.intake_id)
        return chart(intake.heading, points, valuation)
    document = _everything(prices, principal, intake) | {"points": [point_document(point) for point in points]}
    return visible_json(document, indent=2) + "\n"


def _everything(prices: Prices, principal: Principal, intake: Intake) -> dict[str, Any]:
    from haulwright.apps.prices.export import intake_document, point_document, valuation_document  # noqa: PLC0415 - as above

    key = (principal, intake.intake_id)
    return {
        **intake_document(intake),
        "valuation": valuation_document(prices.find_valuation(*key)),
        "versions": [
            {"version": valued.version, "centre": valued.valuation.centre} for valued in prices.list_valuations(*key)
        ],
        "points": [point_document(point) for point in prices.list_points(*key)],
        "quarantine": prices.list_quarantined(*key),
        "jobs": prices.list_jobs(*key),
    }


def _valuation_fields(valuation: ValuationView | None) -> list[tuple[str, object]]:
    from haulwright.apps.prices.amounts import amount_text  # noqa: PLC0415 - as above

    if valuation is None:
        return [("worth", "not valued yet")]
    unit = valuation["currency"]
    return [
        ("worth", amount_text(valuation["centre"], unit) or "nothing compares"),
        (
            "range",
            " to ".join(filter(None, (amount_text(end, unit) for end in (valuation["low"], valuation["high"])))),
        ),
        ("by", f"{len(valuation['points'])} prices {valuation['basis']}" if valuation["basis"] else ""),
        ("confidence", f"{valuation['confidence']} of 100"),
        ("too far out", len(valuation["outliers"]) or None),
        ("left out", left_out_text(valuation["left_out"])),
        ("version", valuation["version"]),
    ]


def _show_job(site: Site, prices: Prices, principal: Principal, name: str) -> None:
    try:
        job = prices.get_job(principal, name)
    except NotFound:
        hint = f"Try: haulwright price list --tenant {principal.tenant}"
        raise NotFound("intake or job", name, hint=hint) from None
    why = site.operations(principal).jobs.why(name)
    site.out.show(job, Fields(list(job.items())), "", why.sentence)
    site.out.next_step(why.next_step)


def _rules(file: IO[bytes]) -> dict[str, Any]:
    from haulwright.apps.prices.rules import Rules  # noqa: PLC0415 - as above

    body = file.read(LARGEST_RULES_BYTES + 1)
    if len(body) > LARGEST_RULES_BYTES:
        raise InvalidValue("--rules", file.name, f"has more than {LARGEST_RULES_BYTES} bytes")
    try:
        return Rules.from_toml(body.decode())
    except UnicodeDecodeError:
        raise InvalidValue("--rules", file.name, "is no text in UTF-8") from None

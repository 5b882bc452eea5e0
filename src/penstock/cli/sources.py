"""`penstock source`: what sources allow, how they stand, pause, resume and change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from penstock.cli.output import Fields, Table
from penstock.cli.params import DURATION
from penstock.cli.times import iso
from penstock.cli.verbs import Noun
from penstock.clock import SECOND
from penstock.engine.source import FOREVER, breaker_figures, budget_figure, figures, interval_figures, rate_figures
from penstock.engine.words import spell

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.stores.source_rows import Source, Traffic

TRAFFIC_MINUTES = 60
HEADERS = ("source", "open", "rate", "permits", "streak", "last success", "requests/h", "failed/h")

command = Noun("source", help="Sources: their rate, breaker and budget; pause, resume, set.")


@command.command("list")
@click.pass_obj
def list_(site: Site) -> None:
    """List the sources, whether they take requests, and what went through in the last hour."""
    store, out = site.store, site.out
    found, traffic, now = store.sources.all(), store.sources.traffic(TRAFFIC_MINUTES), store.now()
    rows = []
    for one in found:
        passed = traffic.get(one.key)
        requests, failed = (passed.requests, passed.failed) if passed else (0, 0)
        success = out.when(one.last_success_at, now)
        rows.append((one.key, _in_words(one), _rate(one), _permits(one), one.failure_streak, success, requests, failed))
    document = [_document(one, traffic.get(one.key)) for one in found]
    out.show({"sources": document}, Table(HEADERS, rows, "No source is declared."))


@command.command("show")
@click.argument("name")
@click.pass_obj
def show(site: Site, name: str) -> None:
    """Show one source: what it allows, who changed that, how it stands, and its traffic of the last hour."""
    source = site.store.sources.get(name)
    document = _document(source, site.store.sources.traffic(TRAFFIC_MINUTES, name).get(name))
    site.out.show(document, Fields([(key, value) for key, value in document.items() if value != {}]))
    if source.closing is not None:
        site.out.next_step(f"penstock source resume {name}")


@command.command("pause")
@click.argument("name")
@click.option("--for", "seconds", type=DURATION, metavar="TIME", help="Open again after this; else when resumed.")
@click.option("--reason", default="", help="Why; it is recorded and shown.")
@click.pass_obj
def pause(site: Site, name: str, seconds: float | None, reason: str) -> None:
    """Let no request through. Jobs wait without burning attempts; a resume moves their deadlines."""
    site.store.sources.pause(name, actor=site.principal().actor, reason=reason, seconds=seconds)
    until = "until it is resumed" if seconds is None else f"for {spell(seconds)}"
    site.out.show({"name": name, "paused": True, "seconds": seconds}, f"The source {name} is paused {until}.")


@command.command("resume")
@click.argument("name")
@click.pass_obj
def resume(site: Site, name: str) -> None:
    """Open what a person, the breaker, a refused credential or the server closed, and wake the jobs that wait."""
    changed = site.store.sources.resume(name, actor=site.principal().actor)
    told = "takes requests again" if changed else "was open already"
    site.out.show({"name": name, "paused": False, "changed": changed}, f"The source {name} {told}.")


@command.command("set")
@click.argument("name")
@click.option("--rate", metavar="RATE", help="Such as 30/min.")
@click.option("--burst", type=int, help="How many may pass at once after a quiet time; goes with --rate.")
@click.option("--min-interval", metavar="TIME", help="At least this between two requests.")
@click.option("--concurrency", type=int, help="Requests under way at once, in the whole fleet.")
@click.option("--budget", metavar="N", help="Requests in a day of UTC.")
@click.option("--breaker", metavar="WORDS", help="Such as '5 failures / 5 min', or none.")
@click.option("--enable/--disable", "enabled", default=None, help="Whether it may be asked at all.")
@click.option("--reset", is_flag=True, help="Take back what was set: the code decides again.")
@click.pass_obj
def set_(site: Site, /, name: str, *, reset: bool, **said: Any) -> None:
    """Change what a source allows. It holds over what the code says, until --reset."""
    given = {key: value for key, value in said.items() if value is not None}
    if reset == bool(given):
        raise click.UsageError("Say what to change, such as --rate 30/min; or --reset alone.")
    site.store.sources.override(name, None if reset else _changes(given), actor=site.principal().actor)
    source = site.store.sources.get(name)
    told = "is as its code says" if reset else "is changed"
    site.out.show(_document(source, None), f"The source {name} {told}.")


def _changes(given: dict[str, Any]) -> dict[str, Any]:
    """The figures that these flags stand for; what makes no sense is refused before anything is read."""
    breaker = given.get("breaker")
    parts: dict[str, Any] = {
        **rate_figures(given.get("rate"), given.get("burst")),
        **interval_figures(given.get("min_interval")),
    }
    if "breaker" in given:
        parts |= breaker_figures(None if breaker == "none" else breaker)
    if "budget" in given:
        budget = given["budget"]
        parts["budget"] = budget_figure(int(budget) if budget.isdigit() else budget)
    if "concurrency" in given:
        parts["concurrency"] = figures(concurrency=given["concurrency"]).concurrency
    if "min_interval" in given:
        parts["burst"] = 1
    return parts | ({"enabled": given["enabled"]} if "enabled" in given else {})


def _document(source: Source, traffic: Traffic | None) -> dict[str, Any]:
    allowed, closing = source.figures, source.closing
    until = None if closing is None or closing.until >= FOREVER else closing.until
    return {
        "name": source.key,
        "enabled": bool(allowed.enabled),
        "gate": None if closing is None else closing.gate,
        "paused_until": iso(until),
        "paused_by": source.paused_by if closing is not None and closing.gate == "paused" else None,
        "reason": source.paused_reason if closing is not None and closing.gate == "paused" else None,
        "rate_limit_per_minute": allowed.per_minute,
        "burst": allowed.burst,
        "min_interval_seconds": allowed.min_interval_us / SECOND,
        "concurrency": allowed.concurrency,
        "permits_out": source.standing.held,
        "budget_per_day": allowed.budget,
        "spent_today": source.standing.spent_on(source.standing.asked_at),
        "breaker": source.standing.breaker,
        "breaker_failures": allowed.breaker_failures,
        "breaker_cool_down_seconds": allowed.breaker_cool_down_us / SECOND,
        "cache_seconds": None if allowed.cache_ttl_us is None else allowed.cache_ttl_us / SECOND,
        "failure_streak": source.failure_streak,
        "last_success_at": iso(source.last_success_at),
        "last_failure_at": iso(source.last_failure_at),
        "overridden": source.overridden,
        "overridden_by": source.overridden_by,
        "last_hour": _counted(traffic),
    }


def _counted(traffic: Traffic | None) -> dict[str, Any]:
    if traffic is None:
        return {}
    return {
        "requests": traffic.requests,
        "failed": traffic.failed,
        "throttled": traffic.throttled,
        "sent_bytes": traffic.sent_bytes,
        "received_bytes": traffic.received_bytes,
        "busy_seconds": round(traffic.busy_seconds, 3),
    }


def _in_words(source: Source) -> str:
    closing = source.closing
    return "open" if closing is None else f"{closing.gate} {closing.words(source.standing.asked_at)}"


def _rate(source: Source) -> str:
    per_minute = source.figures.per_minute
    every = source.figures.min_interval_us
    return f"{per_minute:g}/min" if per_minute else f"every {spell(every / SECOND)}" if every else ""


def _permits(source: Source) -> str:
    limit = source.figures.concurrency
    return "" if limit is None else f"{source.standing.held} of {limit}"

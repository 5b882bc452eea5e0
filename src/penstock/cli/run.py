"""`penstock run`: enqueue a job from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import shapes
from penstock.cli.params import DURATION, pairs
from penstock.cli.verbs import Verb
from penstock.engine.task import check_name
from penstock.errors import InvalidPayload, JobFailed

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.client.arguments import Signature
    from penstock.client.handle import Handle

WORTH_SAYING = frozenset({"no_worker", "queue_paused", "unknown_task"})
"""Reasons for which a fresh job would wait without anybody noticing."""


@click.command("run", cls=Verb)
@click.argument("task")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--wait", is_flag=True, help="Wait for the job and print its result.")
@click.option("--timeout", type=DURATION, metavar="TIME", help="With --wait: not longer than this; the job goes on.")
@click.option("--tenant", help="The tenant that the job belongs to.")
@click.option("--queue", help="Another queue than the task's.")
@click.option("--priority", type=int, help="From -100 to 100, higher first.")
@click.option("--delay", metavar="TIME", help="Not before this time has passed.")
@click.option("--key", "job_key", help="Plan it once: a second job under this key is not made.")
@click.option("--correlation-id", metavar="ID", help="The ticket or trace that the job carries.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.pass_obj
def command(
    site: Site, /, task: str, arguments: tuple[str, ...], *, wait: bool, timeout: float | None, **said: Any
) -> None:
    """Enqueue a job of TASK with these arguments and print its id.

    A value that is JSON is taken as such (n=3, on=true, sku='["A1"]'), everything else as text; where the task asks
    for text, n=3 is the text 3. Arguments are checked against the task's signature before anything is written.
    """
    for name in ("tenant", "queue"):
        if said[name] is not None:
            check_name(name, said[name])  # an empty one, from a variable that was not set, means no default
    found = site.app.find(task)
    values = read_arguments(found.signature, arguments)
    handle = found.using(**said).enqueue_plain(values)
    if not handle.created:
        site.out.note("It was planned before: this is the job that stands for it.")
    warn(site, handle.id)
    if wait:
        _wait(site, handle, timeout)
    else:
        site.out.show({"id": handle.id, "created": handle.created}, handle.id)


def read_arguments(signature: Signature, texts: tuple[str, ...]) -> dict[str, Any]:
    """The values of `name=value` texts, as JSON where that fits the signature, else as text."""
    raw = pairs(texts, what="argument")
    values = {name: _parsed(text) for name, text in raw.items()}
    while (refusal := _refusal(signature, values)) is not None:
        name = refusal.path.removeprefix("args.")
        if isinstance(values.get(name, ""), str):
            raise refusal
        values[name] = raw[name]  # it is text from here on, so no name comes here twice
        again = _refusal(signature, values)
        if again is not None and again.path == refusal.path:
            raise refusal  # not even the text fits: speak of the value that was meant
    return values


def _refusal(signature: Signature, values: dict[str, Any]) -> InvalidPayload | None:
    try:
        signature.dump_plain(values)
    except InvalidPayload as refusal:
        return refusal
    return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(_word: str) -> None:
    """NaN and Infinity are no JSON: they are text here."""
    raise ValueError


def warn(site: Site, job_id: str) -> None:
    """Say so where a fresh job would wait without anybody noticing: nobody works on its queue, or knows its task."""
    told = site.desk().why(job_id)
    if told.code in WORTH_SAYING and not site.out.as_json:
        site.out.note(f"It waits: {told.sentence}.")
        site.out.next_step(told.next_step)


def _wait(site: Site, handle: Handle[Any], timeout: float | None) -> None:
    try:
        handle.result(timeout)
    except JobFailed:
        site.out.show(shapes.job(handle.job()))
        raise
    job = handle.job()
    site.out.show(shapes.job(job), job.result or "null")

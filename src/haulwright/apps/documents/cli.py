"""`haulwright doc`: documents by their addresses, fetched once, verified, stored once, and found by their words."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from haulwright.apps.documents import SPEC
from haulwright.apps.documents.file_names import name_of_url
from haulwright.apps.documents.views import (
    FINDING_HEADERS,
    HIT_HEADERS,
    OPTIONAL_HIT_COLUMNS,
    SHA_CHARS,
    STANDING_HEADERS,
    file_document,
    finding_row,
    hit_row,
    live_manifest_document,
    live_manifest_summary,
    local_hit_document,
    manifest_document,
    planned_document,
    standing_row,
)
from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.output import Fields, Table
from haulwright.cli.kit.params import DURATION
from haulwright.cli.kit.verbs import NounGroup
from haulwright.engine.job import DEFAULT_TENANT

if TYPE_CHECKING:
    from haulwright.apps.documents import Documents
    from haulwright.apps.documents.artifacts import File
    from haulwright.apps.documents.planning import PlannedArtifact
    from haulwright.apps.documents.politeness import Politeness
    from haulwright.cli.kit.site import Site

STATES = ("PLANNED", "LEASED", "HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED", "INDEXED", "DEDUPED",
          "SKIPPED_DUPLICATE", "FAILED")  # fmt: skip
LATEST = 20
MOST_SHOWN = 20
WORKER = "haulwright worker -A haulwright.apps.documents.worker:app --queues documents,documents-upkeep"

command = NounGroup("doc", help=SPEC.summary, makes_database=("add", "import", "import-manifest"))
tenant_option = click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose documents.")
wait_option = click.option("--wait", is_flag=True, help="Wait until they are fetched, with a bar for each file.")
timeout_option = click.option("--timeout", type=DURATION, metavar="TIME", help="With --wait: no longer than this.")


@command.command("add")
@click.argument("url")
@tenant_option
@click.option("--work", default="", metavar="ID", help="What it is a part of; else its host.")
@click.option("--artifact", default="", metavar="ID", help="Which part; else its address.")
@click.option("--title", help="What to call it; else what it says itself.")
@click.option("--name", default="", help="The name of the file; else that of its address.")
@click.option("--sha256", help="The hash that it must have.")
@click.option("--bytes", "size", type=int, help="The length that it must have.")
@click.option("--type", "kind", metavar="TYPE", help="What it must be, such as application/pdf.")
@wait_option
@timeout_option
@click.pass_obj
def add(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site,
    url: str,
    *,
    tenant: str,
    work: str,
    artifact: str,
    title: str | None,
    name: str,
    sha256: str | None,
    size: int | None,
    kind: str | None,
    wait: bool,
    timeout: float | None,
) -> None:
    """Have one document fetched, and print its job. The same document is the same job."""
    from haulwright.apps.documents import Item  # noqa: PLC0415 - only where it is needed

    documents: Documents = site.application("documents")
    planned_artifact = documents.add(
        site.principal().for_tenant(tenant), Item(url, work, artifact, title, name, sha256, size, kind)
    )
    if wait:
        _wait(site, tenant, [planned_artifact], timeout)
        return
    summary = planned_artifact.job_id if planned_artifact.created else f"{planned_artifact.job_id} (planned before)"
    site.out.show(planned_document(planned_artifact), summary)
    site.out.next_step(WORKER)


@command.command("import")
@click.argument("manifest", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@tenant_option
@wait_option
@timeout_option
@click.pass_obj
def import_(site: Site, manifest: Path, *, tenant: str, wait: bool, timeout: float | None) -> None:
    """Plan what a manifest lists: CSV with a header, or JSON Lines. A bad line is on record, and the rest goes on.

    It says how long politeness makes the new documents take: the rate of their hosts, documents_host_rate.
    """
    documents: Documents = site.application("documents")
    manifest_import = documents.take_in(site.principal().for_tenant(tenant), manifest)
    document = manifest_document(manifest_import)
    counts = {name: manifest_import.counts[name] for name in ("planned", "known", "repeated", "refused")}
    refusals, politeness = document["refusals"], manifest_import.politeness
    slow = _politeness_text(politeness)
    if wait:
        for refusal in refusals[:MOST_SHOWN]:
            site.out.note(f"line {refusal['line']}: {refusal['why']}")
        if slow:
            site.out.note(slow)
        _wait(site, tenant, manifest_import.planned, timeout, about={**counts, "politeness": document["politeness"]})
        return
    rows = [(refusal["line"], refusal["why"]) for refusal in refusals[:MOST_SHOWN]]
    summary = ", ".join(f"{count} {name}" for name, count in counts.items())
    parts = [Table(("line", "why it is refused"), rows)] if rows else []
    site.out.show(document, summary, *([slow] if slow else []), *parts)
    site.out.next_step(WORKER)


@command.command("import-manifest")
@click.argument("manifest", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@tenant_option
@click.option(
    "--files",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where its files are; nowhere else is looked.",
)
@click.option("--with-failed", is_flag=True, help="Plan those anew, too, that failed there.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_obj
def import_manifest(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, manifest: Path, *, tenant: str, files: Path | None, with_failed: bool, dry_run: bool
) -> None:
    """Take over a manifest.sqlite3 that is in use elsewhere. It is only read, and may be taken over again.

    What is planned or under way there is planned here. What is finished is adopted, where its file is found in the
    folder of --files and is what its hash says; else it is fetched anew. It says how long politeness makes that take.
    """
    documents: Documents = site.application("documents")
    principal = site.principal().for_tenant(tenant)
    move = documents.move_in(principal, manifest, files=files, with_failed=with_failed, dry_run=dry_run)
    document = live_manifest_document(move, dry_run=dry_run)
    rows = [(refusal["line"], refusal["why"]) for refusal in document["refusals"][:MOST_SHOWN]]
    parts = [Table(("row", "why it is refused"), rows)] if rows else []
    slow = _politeness_text(move.politeness)
    site.out.show(document, live_manifest_summary(document), *([slow] if slow else []), *parts)
    if not dry_run:
        site.out.next_step(WORKER)


@command.command("status")
@click.argument("name", metavar="[JOB|KEY|URL]", required=False)
@tenant_option
@click.option("--state", type=click.Choice(STATES), help="Only those in this state.")
@click.option("--limit", default=LATEST, show_default=True, help="At most so many.")
@click.pass_obj
def status(site: Site, name: str | None, *, tenant: str, state: str | None, limit: int) -> None:
    """Show how documents stand: how many in each state and the newest of them, or everything about one."""
    documents, principal = site.application("documents"), site.principal().for_tenant(tenant)
    if name is not None:
        standing = documents.get_document(principal, name)
        site.out.show(standing, Fields(list(standing.items())))
        return
    states, (files, size, missing) = documents.count_states(principal), documents.get_totals(principal)
    newest = documents.list_documents(principal, state=state, limit=limit)
    document = {"states": states, "files": files, "bytes": size, "missing": missing, "documents": newest}
    counts = Table(("state", "documents"), list(states.items()), "No documents.")
    rows = [standing_row(standing) for standing in newest]
    summary = f"{files} files, {size:,} bytes" + (f", {missing} missing" if missing else "")
    site.out.show(document, counts, "", summary, "", Table(STANDING_HEADERS, rows, "", ("job", "error")))


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@tenant_option
@click.option("--limit", default=LATEST, show_default=True, help="At most so many.")
@click.pass_obj
def search(site: Site, words: tuple[str, ...], *, tenant: str, limit: int) -> None:
    """Find documents that have all of these words; harb* stands for every word that begins so."""
    documents, principal = site.application("documents"), site.principal().for_tenant(tenant)
    hits, now = documents.search_hits(principal, " ".join(words), limit), site.now()
    rows = [hit_row(site.out, hit, now) for hit in hits]
    empty = "" if rows else _nothing_found(tenant, *documents.get_totals(principal)[:1])
    table = Table(HIT_HEADERS, rows, empty, OPTIONAL_HIT_COLUMNS)
    site.out.show({"files": [local_hit_document(hit) for hit in hits]}, table)
    if rows:
        site.out.next_step(f"haulwright doc get {hits[0].file.sha256[:SHA_CHARS]} --tenant {tenant}")


@command.command("get")
@click.argument("name", metavar="SHA256|JOB|KEY|URL")
@tenant_option
@click.option("--to", type=click.Path(path_type=Path), help="Write it here: a file, or a folder. Without, to stdout.")
@click.option("--force", is_flag=True, help="With --to: write over a file that is there.")
@click.pass_obj
def get(site: Site, name: str, *, tenant: str, to: Path | None, force: bool) -> None:
    """Give out the file of a document, compared with its hash: to stdout, or into the file or folder of --to.

    The beginning of its hash is enough. With --json the bytes stay where they are, and the answer says where that is.
    """
    file, place = site.application("documents").get_file(site.principal().for_tenant(tenant), name)
    if to is None and not site.out.as_json:
        if sys.stdout.isatty():
            raise click.UsageError(
                "A terminal is no place for the bytes of a file. Give --to PATH, or redirect stdout."
            )
        with place.open("rb") as body:
            shutil.copyfileobj(body, sys.stdout.buffer)
        return
    target = None if to is None else _copy(place, to / _file_name(file) if to.is_dir() else to, force=force)
    document = {**file_document(file), "path": str(place), "to": None if target is None else str(target)}
    site.out.show(document, f"{target}: {file.bytes} bytes, {file.kind}")


@command.command("verify")
@tenant_option
@click.pass_context
def verify(ctx: click.Context, tenant: str) -> None:
    """Read every file from its first byte to its last, and compare it with its hash. Nothing is changed."""
    site: Site = ctx.obj
    documents: Documents = site.application("documents")
    principal = site.principal().for_tenant(tenant)
    total, _, _ = documents.get_totals(principal)
    verdicts = list(site.out.progress(documents.verify(principal), "files", total))
    wrong = [verdict for verdict in verdicts if verdict.state != "whole"]
    document = {
        "files": len(verdicts),
        "wrong": [{"sha256": verdict.sha256, "key": verdict.key, "state": verdict.state} for verdict in wrong],
    }
    summary = f"{len(verdicts)} files, {len(wrong)} of them missing or damaged."
    parts = [Table(("sha256", "state"), [(verdict.sha256, verdict.state) for verdict in wrong])] if wrong else []
    site.out.show(document, summary, *parts)
    if wrong:
        site.out.next_step("haulwright doc reconcile --deep")
        ctx.exit(Exit.PROBLEMS)


@command.command("reconcile")
@click.option("--dry-run", is_flag=True, help="Only tell; change nothing.")
@click.option("--deep", is_flag=True, help="Read every file to its end as well.")
@click.pass_obj
def reconcile(site: Site, *, dry_run: bool, deep: bool) -> None:
    """Bring the database and the folders to agree, for all tenants, and say what did not."""
    report = site.application("documents").reconcile(site.principal(), dry_run=dry_run, deep=deep)
    rows = [finding_row(finding) for finding in report.findings[:MOST_SHOWN]]
    summary = f"{report.files} files looked at, {report.counts.total()} findings."
    parts = [Table(FINDING_HEADERS, rows, "", ("tenant",))] if rows else []
    site.out.show(report.document(), summary, *parts)
    if dry_run and rows:
        site.out.next_step("haulwright doc reconcile")


def _politeness_text(politeness: Politeness | None) -> str:
    """How long the rate of their hosts makes new documents take, where anybody would notice."""
    return politeness.text if politeness is not None and politeness.is_worth_saying else ""


def _nothing_found(tenant: str, files: int) -> str:
    if not files:
        return f"The tenant {tenant!r} has no documents. Another one is named with --tenant."
    return f"None of the {files} documents of the tenant {tenant!r} has all of these words."


def _file_name(file: File) -> str:
    """A name that leads nowhere else: that of its address."""
    return name_of_url(file.source)


def _copy(place: Path, target: Path, *, force: bool) -> Path:
    """Copy a file; it is there whole or not at all."""
    if target.exists() and not force:
        raise click.UsageError(f"{target} is there already. Give another name, or --force.")
    partial = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(place, partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def _wait(
    site: Site,
    tenant: str,
    artifacts: list[PlannedArtifact],
    timeout: float | None,
    about: dict[str, object] | None = None,
) -> None:
    """Wait until these documents have ended; what failed makes the command fail."""
    from haulwright.apps.documents.waiting import wait_for  # noqa: PLC0415 - only where somebody waits

    documents: Documents = site.application("documents")
    keys = [artifact.key for artifact in artifacts]
    wait_for(site.out, documents, site.principal().for_tenant(tenant), keys, timeout)
    endings = documents.count_endings(site.principal().for_tenant(tenant), keys)
    summary = ", ".join(f"{count} {state}" for state, count in endings.items()) or "nothing to wait for"
    site.out.show({**(about or {}), "endings": endings}, summary)
    if endings.get("FAILED"):
        site.out.next_step(f"haulwright doc status --state FAILED --tenant {tenant}")
        click.get_current_context().exit(Exit.FAILED)

"""`penstock demo`: two workers, one of them killed in the middle, and the figures afterwards."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.exits import Exit
from penstock.cli.verbs import Verb

if TYPE_CHECKING:
    from penstock.cli.demo_scene import Figures, Scene
    from penstock.cli.site import Site

JOBS = 200

TAKEN_BACK = """
A killed worker cannot say goodbye: its {held} jobs stayed leased to it. The next worker saw that its process is gone
(on another host it would wait until the leases run out) and took them back."""
IN_DOUBT = """
{count} of them were cut off between handing their parcel over and writing that down. Their next run found the intent in
the ledger, asked the outside world, and adopted what had happened. Without that question it would happen twice."""


@click.command("demo", cls=Verb)
@click.option("--jobs", type=click.IntRange(10, 10_000), default=JOBS, show_default=True, help="How many.")
@click.option("--keep", is_flag=True, help="Leave the database and the logs of the workers where they are.")
@click.pass_obj
def command(site: Site, *, jobs: int, keep: bool) -> None:
    """See it work: two workers, one of them killed with -9, nothing lost and nothing done twice.

    It needs no network and leaves nothing behind. With --database it runs on a migrated PostgreSQL.
    """
    from penstock.cli.demo_scene import Scene  # noqa: PLC0415 - the engine is imported after the command is known

    folder = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    url = site.said_database or f"sqlite:///{folder}/penstock.db"
    try:
        with Scene(folder, url, jobs) as scene:
            figures = _play(site, scene)
            if not keep:
                scene.clear()
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    _tell(site, figures)
    if keep:
        site.out.note(f"Kept: {folder}\nLook inside: {_program()} job list --database '{url}'")
    if not figures.sound:
        click.get_current_context().exit(Exit.FAILED)


def _play(site: Site, scene: Scene) -> Figures:
    """The acts, each told when it is over."""
    begun = time.monotonic()

    def say(text: str) -> None:
        site.out.note(f"{time.monotonic() - begun:5.1f} s  {text}")

    site.out.note(f"{scene.jobs} parcels of two tenants are to be handed over, each once, whatever happens.\n")
    first, second = scene.start("first"), scene.start("second")
    scene.wait_for_workers(2)
    say(f"two workers are up: first (process {first.pid}) and second (process {second.pid})")
    scene.enqueue()
    say(f"{scene.jobs} jobs are on disk, and both workers have begun")
    scene.wait_until_done(scene.jobs // 3)
    held = scene.kill(first)
    say(f"kill -9 first: it was in the middle of its work and held {held} jobs")
    scene.start("third")
    scene.wait_for_workers(2)
    say("third has started in its place, as a supervisor would do it")
    scene.wait_until_finished()
    say("no job is left; second and third are told to stop, and do")
    scene.stop()
    return scene.figures(held, time.monotonic() - begun)


def _tell(site: Site, figures: Figures) -> None:
    site.out.note("")
    site.out.show(figures.document(), figures.table())
    if site.out.as_json:
        return
    if not figures.sound:
        site.out.note("\nThe figures are off: this should never happen. Please report it, with the output of --keep.")
        return
    program = _program()
    site.out.note(
        f"{_explained(figures)}\n\nWhat to type next:\n"
        f"  {program} demo --keep          keep the database, to look inside with job list and job show\n"
        f"  {program} doctor               see how this machine stands\n"
        f"  {program} --help               all commands; docs/tutorial/first-job.md begins with a task of your own"
    )


def _explained(figures: Figures) -> str:
    told = TAKEN_BACK.format(held=figures.held_when_killed)
    return told + IN_DOUBT.format(count=figures.effects_in_doubt) if figures.effects_in_doubt else told


def _program() -> str:
    """How this program was called, so that what is shown can be typed."""
    called = Path(sys.argv[0])
    return "penstock" if shutil.which("penstock") or called.name != "penstock" else sys.argv[0]

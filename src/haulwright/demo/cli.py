"""`haulwright demo`: five applications, two workers, one of them killed in the middle, and the figures afterwards."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

import click

from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.verbs import Verb
from haulwright.extras import require_extra
from haulwright.redaction import redact

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.demo.environment import Stage
    from haulwright.demo.progress import DemoProgress
    from haulwright.demo.summary import DemoSummary

EXPLAINED = """\
A killed worker cannot say goodbye: its {held} jobs stayed leased to it. The others saw that its process is gone (on
another host they would wait until the leases run out), took them back, and went on where the ledger says that it had
been: a paid run whose reply was lost was looked up and adopted, and half a file was not fetched from its beginning."""
LOOK_SECONDS: Final = 0.2
LONGEST_RETRY_SECONDS: Final = 3.0
"""A retry that is later than this is made due at once: a demo is watched."""


@click.command("demo", cls=Verb)
@click.option("--keep", is_flag=True, help="Keep it running afterwards, to look around; Ctrl-C ends it.")
@click.pass_obj
def command(site: Site, *, keep: bool) -> None:
    """See it work: five applications, two workers, one of them killed with -9, nothing lost and nothing done twice.

    The outside world is the sandbox, so it needs no network, and it leaves nothing behind. With --database it plays in
    a schema of its own on that PostgreSQL, on which nobody else may have any work.
    """
    require_extra("apps", "The demo")
    from haulwright.demo.environment import stage  # noqa: PLC0415 - the engine is imported after the command is known
    from haulwright.demo.web import serving_dashboard  # noqa: PLC0415 - as above

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: what was started is ended
    folder = Path(tempfile.mkdtemp(prefix="haulwright-demo-"))
    try:
        with stage(folder, site.database_flag) as set_up:
            account = _play(site, set_up)
            if keep:
                with serving_dashboard(set_up.world.app, site.settings, user=site.user) as address:
                    arrived = _catch_signals()
                    _tell(site, account)
                    _tell_where_to_look(site, set_up, address)
                    while not arrived.wait(LOOK_SECONDS):
                        pass
            else:
                _tell(site, account)
                _tell_what_to_type(site)
            set_up.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not account.is_sound:
        click.get_current_context().exit(Exit.FAILED)


def _play(site: Site, set_up: Stage) -> DemoSummary:
    """All acts at once, each told when it is over."""
    from haulwright.demo.progress import DemoProgress  # noqa: PLC0415 - as above
    from haulwright.demo.summary import DemoSummary, engine_checks  # noqa: PLC0415 - as above

    acts = set_up.acts
    watch = DemoProgress(acts, site.out.note, set_up.waits)
    watch.say(f"the outside world is up, at {set_up.world.sandbox.url}")
    first, second = set_up.start("first"), set_up.start("second")
    set_up.wait_for_workers()
    watch.say(f"two workers are up: first (process {first.pid}) and second (process {second.pid})")
    for act in acts:
        act.begin()
        watch.say(f"{act.name}: {act.promise}")
    with watch:
        set_up.wait("the workers to work", lambda: _look(set_up, watch) > 1 / 3)
        held = _kill(set_up, watch)
        set_up.wait("the work to be finished", lambda: _look(set_up, watch) >= 1)
    checks = [check for act in acts for check in act.checks()]
    return DemoSummary([*engine_checks(set_up.world, held), *checks], held, watch.seconds)


def _look(set_up: Stage, watch: DemoProgress) -> float:
    """The share of the work that is done. A retry that all would have to wait for is not waited for: it is said how."""
    share = watch.look()
    for act, wait in watch.waiting.items():
        if wait.is_retry and wait.seconds > LONGEST_RETRY_SECONDS:
            set_up.retry_now(wait.job_id)
            watch.say(f"{act}: {wait.in_words()}: haulwright job retry {wait.job_id[-12:]}")
    watch.waiting = {}
    return share


def _kill(set_up: Stage, watch: DemoProgress) -> int:
    held = set_up.kill("first")
    watch.say(f"kill -9 first: it was in the middle of its work and held {held} jobs")
    set_up.start("third")
    set_up.wait("third to start", lambda: _is_at_work(set_up, watch))
    watch.say("third has started in its place, as a supervisor would do it")
    return held


def _is_at_work(set_up: Stage, watch: DemoProgress) -> bool:
    """Whether all workers are; the acts go on meanwhile, and are looked at."""
    _look(set_up, watch)
    return set_up.are_workers_up()


def _tell(site: Site, account: DemoSummary) -> None:
    site.out.note("")
    site.out.show(account.document(), account.table())
    site.out.note(f"\n{account.seconds:.1f} s in all.")
    if not account.is_sound:
        site.out.note("The figures are off: this should never happen. Please report it, with what --keep shows.")
    elif not site.out.as_json:
        text = " ".join(EXPLAINED.format(held=account.held_when_killed).split())
        site.out.note("\n" + click.wrap_text(text, shutil.get_terminal_size().columns - 1))


def _tell_where_to_look(site: Site, set_up: Stage, address: str | None) -> None:
    words = ["top", "job list", *(command for act in set_up.acts for command in act.commands())]
    looks = "\n".join(f"  {_program()} {command}" for command in words)
    site.out.note(f"\nIt goes on: workers, outside world, and the files in {set_up.world.folder}")
    if address is not None:
        site.out.note(f"The dashboard, for one browser of this machine:\n  {address}")
    site.out.note("Look around, in another terminal:")
    site.out.note(f"  export HAULWRIGHT_DATABASE_URL={shlex.quote(redact(set_up.url))}\n{looks}")
    site.out.note("Ctrl-C here ends it and removes everything.")


def _tell_what_to_type(site: Site) -> None:
    site.out.note(
        f"\nWhat to type next:\n  {_program()} demo --keep    # keep it running, and look around"
        f"\n  {_program()} --help         # all commands"
        "\nA task of your own: docs/tutorial/first-job.md of the repository"
    )


def _catch_signals() -> Event:
    """From now on Ctrl-C ends the wait alone. A signal may reach any thread, so the main one looks for itself."""
    arrived = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: arrived.set())
    return arrived


def _program() -> str:
    """How this program was called, so that what is shown can be typed: from here, where it is not on the path."""
    called = Path(sys.argv[0])
    if shutil.which("haulwright") or called.name != "haulwright":
        return "haulwright"
    here = Path.cwd()
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)

"""`haulwright sandbox`: a stand-in for the outside world, on this machine."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.output import Fields
from haulwright.cli.kit.params import INSTANT
from haulwright.cli.kit.verbs import Verb
from haulwright.clock import SECOND
from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.sandbox import Sandbox

PORT = 8765
BASES = {
    "apify": "/apify",
    "airbyte": "/airbyte/v1",
    "feeds": "/feeds",
    "shop": "/shop",
    "files": "/files",
    "model": "/model/v1",
    "control": "/_sandbox",
}
"""Where each service begins, as a client of it is configured."""


@click.command("sandbox", cls=Verb)
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True, help="0 takes any free one.")
@click.option("--seed", type=int, default=1, show_default=True, help="Another number is another world.")
@click.option("--at", type=INSTANT, metavar="TIME", help="A clock that shows this time and stands until it is moved.")
@click.pass_obj
def command(site: Site, *, port: int, seed: int, at: int | None) -> None:
    """Serve a stand-in for the outside world on loopback until told to stop.

    Apify, Airbyte, feeds, a shop, a file host and a model, over real HTTP, with books of what they were asked and with
    faults by rule. Any token is welcome, and nothing costs anything.
    """
    sandbox, stop = _make_sandbox(port, seed, at), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # both are the usual end
        signal.signal(number, lambda *_: stop.set())
    with sandbox:
        _tell(site, sandbox)
        stop.wait()


def _make_sandbox(port: int, seed: int, at: int | None) -> Sandbox:
    from haulwright.sandbox import Sandbox, SandboxClock  # noqa: PLC0415 - only this command needs it

    clock = SandboxClock() if at is None else SandboxClock.standing(at / SECOND)
    try:
        return Sandbox(port, seed=seed, clock=clock)
    except OSError as error:
        raise InvalidValue("--port", port, f"cannot be used: {error.strerror}", hint="--port 0 takes any.") from None


def _tell(site: Site, sandbox: Sandbox) -> None:
    """One line for programs, so that they need not wait for the end; for people one each.

    Its JSON is written here: the addresses are of this process, and no other door could give them.
    """
    addresses = {name: sandbox.url + path for name, path in BASES.items()}
    if site.out.as_json:
        site.out.line({"url": sandbox.url, "services": addresses}, "")
    else:
        site.out.show(None, Fields(list(addresses.items())))
    site.out.next_step(f"curl {addresses['feeds']}/harbour-times.xml")

"""A canary listens where no client may go: it hears nothing by any spelling, redirect or name, unless that is allowed.

Everything is asked twice: of a bare client, and of a source with its gate and cache.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

import pytest

from haulwright import Source
from haulwright.engine.transitions import State
from haulwright.errors import HaulwrightError
from haulwright.sources.http import Blocked, Http, Limits, Policy, Secret
from haulwright.sources.http.ssrf_guard import kind_of
from tests.sources.http.servers import Server, respond
from tests.sources.http.spellings import LOOPBACK, spellings_of

HONEST = "127.0.0.2"
"""Where a server stands that the policy of a test allows."""
ONLY_HONEST = (f"{HONEST}/32",)


def interfaces() -> Iterator[tuple[str, str]]:
    """The IPv6 addresses of this machine and the interfaces that have them, where the system tells."""
    table = Path("/proc/net/if_inet6")
    for line in table.read_text("ascii").splitlines() if table.exists() else ():
        digits, *_, name = line.split()
        yield str(IPv6Address(int(digits, 16))), name


def own_addresses() -> list[str]:
    """The addresses of this machine that are no public ones, and not only its own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # sends nothing, and says from where it would
        found = [str(probe.getsockname()[0]), *(address for address, _ in interfaces())]
        return [each for each in found if kind_of(ip_address(each)) in {"private", "shared", "reserved"}]
    return []


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Starts servers that are stopped after the test."""
    with ExitStack() as stack:
        yield lambda *answers, **options: stack.enter_context(Server(*answers, **options))


@pytest.fixture
def canary(serve) -> Server:
    return serve(respond(200, b"the crown jewels"))


@pytest.fixture(params=["http", "source"])
def door(request, sqlite_url, app) -> Iterator[Callable[[Policy], Http | Source]]:
    """Makes a client, bare or of a source, that goes by a policy."""
    with ExitStack() as stack:
        if request.param == "source":
            stack.enter_context(app.moved_to(sqlite_url))

        def open_door(policy: Policy) -> Http | Source:
            limits = Limits(total=5)
            if request.param == "http":
                return stack.enter_context(closing(Http(policy=policy, limits=limits)))
            source = app.source("shop", policy=policy, limits=limits, cache="1 h", breaker=None)
            stack.callback(source.http.close)
            return source

        yield open_door


def answering(*rounds):
    """A resolver that answers each time with the next of these, and the last from then on."""
    left = list(rounds)

    async def resolve(_host, _port):
        return [left.pop(0) if len(left) > 1 else left[0]]

    return resolve


def test_the_canary_hears_nothing_by_any_spelling(door, canary):
    client = door(Policy(resolver=answering("127.0.0.1")))

    for host in [*LOOPBACK, "shop.example"]:
        with pytest.raises(HaulwrightError):
            client.get(f"http://{host}:{canary.port}/")

    assert canary.connections == 0


@pytest.mark.parametrize("address", own_addresses())
def test_the_canary_hears_nothing_at_an_address_of_this_network(door, serve, address):
    canary = serve(host=address)
    client = door(Policy())

    for host in spellings_of(address):
        with pytest.raises(HaulwrightError):
            client.get(f"http://{host}:{canary.port}/")

    assert canary.connections == 0
    assert door(Policy(allow=(address,))).get(canary.url).ok
    assert canary.connections == 1


def test_the_canary_hears_nothing_at_a_link_local_address_even_where_private_ones_are_open(door, serve):
    address, zone = next((one for one in interfaces() if one[0].startswith("fe80")), ("", ""))
    if not address:
        pytest.skip("this machine has no link-local address")
    canary = serve(host="::")

    for host in (address, f"{address}%25{zone}"):
        for policy in (Policy(), Policy(private=True)):
            with pytest.raises(HaulwrightError):
                door(policy).get(f"http://[{host}]:{canary.port}/")

    assert canary.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_canary_hears_nothing_by_a_redirect(door, serve, canary, status):
    hosts = [host for host in [*LOOPBACK, "shop.example"] if host.isascii()]
    tempter = serve(*(respond(status, Location=f"http://{host}:{canary.port}/") for host in hosts), host=HONEST)
    client = door(Policy(allow=ONLY_HONEST, resolver=answering("127.0.0.1")))

    for number in range(len(hosts)):
        with pytest.raises(HaulwrightError):
            client.get(f"{tempter.url}/{number}")

    assert (tempter.connections, canary.connections) == (len(hosts), 0)


def test_the_canary_hears_nothing_by_a_second_redirect(door, serve, canary):
    last = serve(respond(302, Location=f"http://0x7f.1:{canary.port}/"), host=HONEST)
    first = serve(respond(302, Location=last.url), host=HONEST)

    with pytest.raises(Blocked):
        door(Policy(allow=ONLY_HONEST)).get(first.url)

    assert (first.connections, last.connections, canary.connections) == (1, 1, 0)


def test_the_canary_hears_nothing_by_a_name_that_changes_after_its_check(door, serve, canary):
    """Each connection goes to what was checked for it; the next one is checked anew."""
    honest = serve(respond(200, b"hello"), host=HONEST)
    client = door(Policy(allow=ONLY_HONEST, resolver=answering(HONEST, "127.0.0.1")))

    assert client.get(f"http://shop.example:{honest.port}/").body == b"hello"
    for port in (honest.port, canary.port):
        with pytest.raises(Blocked):
            client.get(f"http://shop.example:{port}/again")

    assert (honest.connections, canary.connections) == (1, 0)


def test_the_canary_hears_nothing_by_a_download(door, canary):
    client = door(Policy())

    async def download():
        async with client.astream(f"http://127.0.0.1:{canary.port}/"):
            pass

    with pytest.raises(Blocked):
        asyncio.run(download())
    assert canary.connections == 0


def test_nothing_of_a_credential_goes_along_to_where_a_redirect_leads(serve, canary):
    tempter = serve(respond(302, Location=canary.url), host=HONEST)
    client = Http(policy=Policy(private=True), auth=Secret("canary-0c9e41"))

    client.get(tempter.url)
    client.close()

    assert b"canary-0c9e41" in tempter.requests[0]
    assert b"canary-0c9e41" not in canary.requests[0]


@pytest.mark.parametrize(
    "policy",
    [
        Policy(private=True),
        Policy(allow=("127.0.0.0/8",)),
        Policy(allow=("127.0.0.1",)),
        Policy(allow=("shop.example",), resolver=answering("127.0.0.1")),
    ],
    ids=["private", "network", "address", "name"],
)
def test_with_the_permission_the_canary_hears_it(door, canary, policy):
    host = "shop.example" if policy.resolver else "127.0.0.1"

    assert door(policy).get(f"http://{host}:{canary.port}/").body == b"the crown jewels"
    assert canary.connections == 1


def test_a_job_that_wants_a_forbidden_address_is_dead_at_once_and_says_how_to_allow_it(bench, app, canary):
    source = app.source("shop")

    @app.task(source=source)
    def fetch(url: str) -> int:
        return source.get(url).status

    bench.use(app)
    handle = fetch.enqueue(canary.url)
    bench.drain()

    row = handle.job()
    assert (row.state, row.reason, row.error_code, canary.connections) == (State.DEAD, "permanent", "blocked", 0)
    assert "Policy(allow=('127.0.0.1',))" in row.error_message

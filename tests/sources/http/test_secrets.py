from __future__ import annotations

import asyncio
import base64
import copy
import logging
import pickle
import socket
import traceback

import pytest

from haulwright.errors import HaulwrightError, InvalidValue
from haulwright.redaction import MASK, redact
from haulwright.sources.http import Credential, Limits, Policy, Secret
from haulwright.sources.http.secret import shown_url
from tests.sources.http.servers import respond

CANARY = "c4n4ry/7f3a b+9"
"""With characters that are written in other ways in queries and headers."""
IN_AN_ADDRESS = "c4n4ry-of-an-address"


def hang_up(connection, _request):
    connection.close()


def echo(connection, request):
    """Say everything back, as careless servers do."""
    connection.sendall(respond(400, request, Content_Type="text/plain", Set_Cookie=f"session={CANARY}", X_Echo="1"))


ENDINGS = {
    "fine": respond(200, b"{}"),
    "refused": respond(401, b"no"),
    "echo": echo,
    "busy": respond(429, Retry_After="5"),
    "broken": respond(500),
    "hung up": hang_up,
    "garbage": b"garbage\r\n\r\n",
    "not json": respond(200, b"<html>"),
    "undecodable": respond(200, b"plain", Content_Encoding="gzip"),
    "too large": respond(200, b"x" * 50_000),
    "circle": respond(302, Location=f"/round?token={CANARY.replace(' ', '%20')}"),
    "forbidden": respond(302, Location=f"ftp://user:{CANARY.replace(' ', '%20').replace('/', '%2F')}@shop.example/"),
    "many headers": respond(200, X_Padding="x" * 70_000),
}
CREDENTIALS = {
    "bearer": {"auth": Secret(CANARY)},
    "basic": {"auth": Credential.basic("user", Secret(CANARY))},
    "header": {"auth": Credential.in_header("X-Api-Key", Secret(CANARY))},
    "query": {"auth": Credential.in_query("who", Secret(CANARY))},
    "plain": {"headers": {"Authorization": f"Bearer {CANARY}", "Cookie": f"sid={CANARY}"}},
}
FORMS = [CANARY, "c4n4ry", base64.b64encode(f"user:{CANARY}".encode()).decode()]


def all_that_comes_out(problem):
    """Everything that an error carries, through all that hangs on it."""
    texts = []
    while problem is not None:
        texts += [str(problem), repr(problem), repr(vars(problem)), "".join(traceback.format_exception(problem))]
        problem = problem.__cause__ or problem.__context__
    return texts


@pytest.mark.parametrize("credential", CREDENTIALS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_canary_in_a_credential_never_comes_out(  # noqa: PLR0913, PLR0917  its fixtures
    client, gate, serve, caplog, credential, ending
):
    caplog.set_level(logging.DEBUG)
    server = serve(ENDINGS[ending])
    http = client(gate=gate, limits=Limits(total=5, body_bytes=10_000), **CREDENTIALS[credential])
    seen = [repr(http)]

    try:
        reply = http.get(f"{server.url}/page")
        seen += [repr(reply), reply.url, repr(reply.headers)]
        reply.raise_for_status().json()
    except HaulwrightError as problem:
        seen += all_that_comes_out(problem)

    assert server.requests
    assert_silent([*seen, repr(gate.verdicts), caplog.text])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_canary_in_an_address_never_comes_out(client, gate, serve, caplog, ending):
    caplog.set_level(logging.DEBUG)
    server = serve(ENDINGS[ending])
    quoted = CANARY.replace("/", "%2F").replace(" ", "%20").replace("+", "%2B")
    address = f"http://user:{quoted}@127.0.0.1:{server.port}/page?api_key={quoted}&X-Amz-Signature={quoted}"
    seen = []

    try:
        reply = client(gate=gate, limits=Limits(total=5, body_bytes=10_000)).get(address)
        seen += [repr(reply), reply.url, repr(reply.redirects)]
        reply.raise_for_status().json()
    except HaulwrightError as problem:
        seen += all_that_comes_out(problem)

    assert_silent([*seen, repr(gate.verdicts), caplog.text])


@pytest.mark.parametrize(
    "address",
    ["http://nowhere.invalid/?token={}", "http://10.0.0.1/?token={}", "http://u:{}@[::1%25lo]/",
    "gopher://u:{}@h.example/",
     "http://u:{}@0x7f.1/", "http://u:{}@h.example:99999/", "u:{}@h.example", "http://u:half/{}@h.example/",
     "http://h.example\\/?token={}"],
)  # fmt: skip
def test_a_canary_in_an_address_that_is_refused_never_comes_out(client, address):
    with pytest.raises(HaulwrightError) as caught:
        client(policy=Policy()).get(address.replace("{}", IN_AN_ADDRESS))

    assert_silent(all_that_comes_out(caught.value))


def test_a_canary_in_a_download_never_comes_out(client, serve, caplog):
    caplog.set_level(logging.DEBUG)
    server = serve(respond(200, b"", Content_Length="500"))

    async def download():
        async with client(auth=Secret(CANARY)) as http, http.astream(f"{server.url}/?token={CANARY}") as stream:
            assert_silent([repr(stream)])
            async for _ in stream:
                pass

    with pytest.raises(HaulwrightError) as caught:
        asyncio.run(download())
    assert_silent([*all_that_comes_out(caught.value), caplog.text])


def test_a_header_that_is_refused_is_not_quoted(client, serve):
    with pytest.raises(HaulwrightError) as caught:
        client().get(serve().url, headers={"Authorization": f"Bearer {CANARY}\r\nX-Evil: 1"})

    assert_silent(all_that_comes_out(caught.value))


def test_the_name_of_a_host_is_no_place_for_a_name_server_to_leak(client, monkeypatch):
    def gossip(*_args, **_kwargs):
        raise socket.gaierror(-2, f"asked with {CANARY}")

    Secret(CANARY)
    monkeypatch.setattr(socket, "getaddrinfo", gossip)

    with pytest.raises(HaulwrightError) as caught:
        client(policy=Policy()).get("http://shop.example/")
    assert_silent(all_that_comes_out(caught.value))


def test_a_secret_shows_itself_only_when_asked():
    secret = Secret("do-not-show-me")

    assert {str(secret), f"{secret}", repr(secret)} == {MASK, f"Secret('{MASK}')"}
    assert secret.reveal() == "do-not-show-me"
    assert redact("it was do-not-show-me") == f"it was {MASK}"
    assert secret == Secret("do-not-show-me")


@pytest.mark.parametrize("write_down", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_secret_is_not_written_down(write_down):
    with pytest.raises(TypeError, match="not written down"):
        write_down(Secret("do-not-show-me"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@shop.example/a?q=coin#x", "https://shop.example/a?q=coin#x"),
        ("https://shop.example/a?access_token=abc&page=2", f"https://shop.example/a?access_token={MASK}&page=2"),
        ("https://shop.example/a?key=abc&keyword=coin", f"https://shop.example/a?key={MASK}&keyword=coin"),
        ("https://shop.example/a?sig=&page=2", "https://shop.example/a?sig=&page=2"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, shown):
    assert shown_url(url) == shown


def assert_silent(texts):
    said = "\n".join(texts)
    assert [form for form in FORMS if form in said] == []


@pytest.mark.parametrize("auth", [None, Credential.basic("user", Secret("correct-horse-1f"))], ids=["header", "auth"])
def test_the_password_of_a_packed_pair_is_a_secret_by_itself(client, serve, memory, auth):
    packed = base64.b64encode(b"user:correct-horse-1f").decode()
    server = serve(respond(404, b"no such page for correct-horse-1f", Content_Type="text/plain", Etag='"v1"'))
    headers = {} if auth else {"Authorization": f"Basic {packed}"}

    reply = client(auth=auth, store=memory, scope="acme").get(server.url, headers=headers)

    with pytest.raises(HaulwrightError) as caught:
        reply.raise_for_status()
    assert "correct-horse" not in f"{caught.value} {memory.kept}"


@pytest.mark.parametrize(
    "proxy",
    ["http://bob:hunter22/x@proxy.example:3128", "http://bob:hunter22#@[::1", "http://bob:hunter22@proxy:99999"],
)
def test_the_password_of_a_proxy_that_cannot_be_read_is_not_shown(client, proxy):
    with pytest.raises(InvalidValue, match=r"policy\.proxy") as refusal:
        client(policy=Policy(proxy=proxy)).get("http://shop.example/")

    assert "hunter22" not in "".join(traceback.format_exception(refusal.value))

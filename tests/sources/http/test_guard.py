from __future__ import annotations

import asyncio
import ssl
import subprocess
from ipaddress import ip_address

import pytest

from haulwright.errors import HaulwrightError, InvalidValue
from haulwright.sources.http import Blocked, NotSent, Policy
from haulwright.sources.http.ssrf_guard import Guard, kind_of
from tests.sources.http.servers import respond
from tests.sources.http.spellings import LOOPBACK


def answering(*addresses):
    async def resolver(_host, _port):
        return list(addresses)

    return resolver


@pytest.mark.parametrize("host", LOOPBACK)
def test_no_spelling_of_this_machine_reaches_it(client, serve, host):
    canary = serve()

    with pytest.raises(HaulwrightError):
        client(policy=Policy()).get(f"http://{host}:{canary.port}/")

    assert canary.connections == 0


@pytest.mark.parametrize("url", ["http://shop.example\\@127.0.0.1:{port}/", "http:\\\\127.0.0.1:{port}/",
"//127.0.0.1:{port}/",
                                 "http://127.0.0.1:{port}\t/", "http://shop.example#@127.0.0.1:{port}/"])  # fmt: skip
def test_no_trick_of_parsing_reaches_this_machine(client, serve, url):
    canary = serve()

    with pytest.raises(HaulwrightError):
        client(policy=Policy(resolver=answering("192.0.2.1"))).get(url.format(port=canary.port))

    assert canary.connections == 0


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("93.184.216.34", "public"), ("2606:4700::1111", "public"), ("64:ff9b::5db8:d822", "public"), ("10.1.2.3",
        "private"),
        ("172.16.0.1", "private"), ("172.31.255.255", "private"), ("172.32.0.1", "public"), ("192.168.1.1", "private"),
        ("100.64.0.1", "shared"), ("100.127.255.255", "shared"), ("100.128.0.1", "public"), ("127.8.8.8", "loopback"),
        ("169.254.169.254", "link-local"), ("224.0.0.1", "multicast"), ("255.255.255.255", "reserved"), ("0.1.2.3",
        "unspecified"),
        ("192.0.0.170", "reserved"), ("198.18.0.1", "reserved"), ("203.0.113.9", "reserved"), ("::1", "loopback"),
        ("::", "unspecified"), ("fd00:ec2::254", "private"), ("fe80::1", "link-local"), ("fec0::1", "link-local"),
        ("ff02::1", "multicast"), ("2001:db8::1", "reserved"), ("2001:0:7f00:1::", "reserved"), ("::ffff:10.0.0.1",
        "private"),
        ("::ffff:169.254.169.254", "link-local"), ("64:ff9b::a00:1", "private"), ("64:ff9b:1::a00:1", "reserved"),
        ("2002:a00:1::", "private"), ("2002:5db8:d822::1", "public"), ("::10.0.0.1", "reserved"), ("4000::1",
        "reserved"),
        ("fe80::1%eth0", "link-local"),
    ],
)  # fmt: skip
def test_every_address_has_its_kind(address, kind):
    assert kind_of(ip_address(address)) == kind


@pytest.mark.parametrize("answers", [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:127.0.0.1"], ["10.0.0.1"]])
def test_one_forbidden_address_of_a_name_blocks_it(client, serve, answers):
    canary = serve()

    with pytest.raises(Blocked):
        client(policy=Policy(resolver=answering(*answers))).get(f"http://shop.example:{canary.port}/")

    assert canary.connections == 0


def test_an_answer_that_changes_after_the_check_cannot_matter(client, serve):
    """The name is looked up once; the connection goes to what was checked, not to what DNS says by then."""
    canary, server = serve(), serve(host="127.0.0.2")
    asked = []

    async def rebinding(_host, _port):
        asked.append(1)
        return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

    policy = Policy(allow=("127.0.0.2/32",), resolver=rebinding)
    client(policy=policy).get(f"http://shop.example:{server.port}/")

    assert (server.connections, len(asked)) == (1, 1)
    assert server.header("host") == f"shop.example:{server.port}"
    with pytest.raises(Blocked):
        client(policy=policy).get(f"http://shop.example:{canary.port}/")
    assert canary.connections == 0


def test_a_host_that_is_allowed_may_be_private_and_others_still_not(client, serve):
    server = serve()
    policy = Policy(allow=("intranet.test",), resolver=answering("127.0.0.1"))

    assert client(policy=policy).get(f"http://intranet.test:{server.port}/").ok
    with pytest.raises(Blocked):
        client(policy=policy).get(f"http://other.test:{server.port}/")


def test_a_network_that_is_allowed_is_open_under_any_name(client, serve):
    server = serve()

    assert client(policy=Policy(allow=("127.0.0.0/8",))).get(server.url).ok


@pytest.mark.parametrize("address", ["169.254.169.254", "224.0.0.1", "0.0.0.0", "fe80::1", "255.255.255.255"])  # noqa: S104
def test_private_does_not_open_what_no_server_has(address):
    with pytest.raises(Blocked):
        asyncio.run(Guard(Policy(private=True)).resolve(address, 80))


def test_the_hint_says_how_to_allow_it(client):
    with pytest.raises(Blocked, match=r"allow=\('10\.0\.0\.1',\)"):
        client(policy=Policy()).get("http://10.0.0.1/")


def test_the_first_address_that_answers_is_taken(client, serve):
    server = serve(host="127.0.0.2")
    policy = Policy(private=True, resolver=answering("127.0.0.3", "127.0.0.2"))

    assert client(policy=policy).get(f"http://shop.example:{server.port}/").ok


@pytest.mark.parametrize("answers", [[], ["10.0.0.1"] * 2000])
def test_a_name_without_addresses_or_with_too_many_is_not_sent(client, answers):
    with pytest.raises(NotSent):
        client(policy=Policy(private=True, resolver=answering(*answers))).get("http://shop.example/")


def test_a_name_that_does_not_exist_is_not_sent(client):
    with pytest.raises(NotSent, match="could not be looked up"):
        client(policy=Policy()).get("http://nowhere.invalid/")


def test_only_the_schemes_of_the_policy_are_spoken(client, serve):
    server = serve()

    with pytest.raises(Blocked, match="http is not among the schemes"):
        client(policy=Policy(private=True, schemes=frozenset({"https"}))).get(server.url)
    assert server.connections == 0


def test_proxies_of_the_environment_are_not_used_unless_the_policy_says_so(client, serve, monkeypatch):
    proxy, server = serve(respond(200, b"by proxy")), serve(respond(200, b"straight"))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)

    assert client().get(server.url).body == b"straight"
    assert client(policy=Policy(private=True, proxy="environment")).get("http://shop.example/").body == b"by proxy"
    assert proxy.first_lines == ["GET http://shop.example:80/ HTTP/1.1"]


def test_tls_is_verified_for_the_name_although_the_connection_goes_to_the_address(client, serve, tmp_path):
    context, trust = certificate_for("shop.example", tmp_path)

    server = serve(respond(200, b"secure"))
    server.wrap(context)
    policy = Policy(private=True, tls=trust, resolver=answering("127.0.0.1"))

    assert client(policy=policy).get(f"https://shop.example:{server.port}/").body == b"secure"
    with pytest.raises(NotSent, match="certificate"):
        client(policy=policy).get(f"https://other.example:{server.port}/")


def test_senseless_policies_are_refused():
    for wrong in (
        {"schemes": frozenset({"ftp"})},
        {"allow": ("10.0.0.0/99",)},
        {"allow": "localhost"},
        {"allow": ("*.example",)},
    ):
        with pytest.raises(InvalidValue, match="policy"):
            Policy(**wrong)


def certificate_for(name, folder):
    """A server's context with a certificate of its own for a name, and a client's that trusts it."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
    "-days", "2",
               "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out",
               certificate]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=certificate)

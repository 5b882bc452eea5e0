"""TLS: where an answer ends, and what the client leaves alone."""

from __future__ import annotations

import os
import ssl

import pytest

from haulwright.sources.http import NotSent, OutcomeUnknown, Policy
from tests.sources.http.servers import respond
from tests.sources.http.test_guard import answering, certificate_for

WITHOUT_LENGTH = b"HTTP/1.1 200 OK\r\n\r\nas far as it came"
TEN_BYTES = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"


@pytest.fixture
def secure(client, serve, tmp_path):
    """Starts a server that speaks TLS, and returns its address and a client that trusts it."""
    context, trust = certificate_for("shop.example", tmp_path)

    def start(*answers, protocols=()):
        server = serve(*answers)
        if protocols:
            context.set_alpn_protocols(protocols)
        server.wrap(context)
        policy = Policy(private=True, tls=trust, resolver=answering("127.0.0.1"))
        return f"https://shop.example:{server.port}/", client(policy=policy), trust

    return start


def hang_up_after(answer):
    """Closes the connection without a word, as anybody on the way can."""

    def serve(connection, _request):
        connection.sendall(answer)
        os.close(connection.detach())  # and TLS says nothing of it

    return serve


def say_goodbye_after(answer):
    def serve(connection, _request):
        connection.sendall(answer)
        connection.unwrap()

    return serve


def test_a_body_without_a_length_is_whole_only_where_the_server_said_so_by_tls(secure):
    url, http, _ = secure(hang_up_after(WITHOUT_LENGTH))
    with pytest.raises(OutcomeUnknown, match="may be cut off"):
        http.get(url)

    url, http, _ = secure(say_goodbye_after(WITHOUT_LENGTH))
    assert http.get(url).body == b"as far as it came"


def test_a_body_with_a_length_needs_no_farewell(secure):
    url, http, _ = secure(hang_up_after(TEN_BYTES))

    assert http.get(url).body == b"0123456789"


def test_what_the_caller_trusts_is_used_as_it_is_given(secure, monkeypatch):
    changed = []
    url, http, trust = secure(respond(200, b"secure"))
    monkeypatch.setattr(ssl.SSLContext, "set_alpn_protocols", lambda context, _: changed.append(context))

    assert http.get(url).body == b"secure"
    assert trust not in changed


def test_a_context_that_offers_another_protocol_is_refused_with_a_reason(secure):
    url, http, trust = secure(respond(200, b"secure"), protocols=["h2"])
    trust.set_alpn_protocols(["h2", "http/1.1"])

    with pytest.raises(NotSent, match="h2"):
        http.get(url)

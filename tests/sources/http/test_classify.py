from __future__ import annotations

import pytest

from haulwright.errors import AuthFailed, Permanent, Retryable, Throttled
from haulwright.sources.http import Credential, Limits, NotSent, OutcomeUnknown, Rejected, Secret, ServerFailed
from tests.sources.http.servers import respond


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, Rejected), (401, AuthFailed), (403, AuthFailed), (404, Rejected), (408, ServerFailed), (409, ServerFailed),
     (410, Rejected), (422, Rejected), (425, ServerFailed), (429, ServerFailed), (500, ServerFailed), (503,
     ServerFailed),
     (304, Rejected), (302, Rejected)],
)  # fmt: skip
def test_a_status_means_one_error(http, serve, status, error):
    reply = http.get(serve(respond(status, b"")).url)

    with pytest.raises(error, match=f"answered {status}") as caught:
        reply.raise_for_status()
    assert getattr(caught.value, "status", status) == status
    assert isinstance(caught.value, Permanent | AuthFailed if status in {401, 403} or error is Rejected else Retryable)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_with_a_time_to_come_back_throttles(http, serve, status):
    with pytest.raises(Throttled) as caught:
        http.get(serve(respond(status, Retry_After="30")).url).raise_for_status()

    assert caught.value.after == 30


def test_a_success_is_returned(http, serve):
    reply = http.get(serve(respond(204)).url)

    assert reply.raise_for_status() is reply


def test_a_refused_credential_is_named(client, serve):
    http = client(auth=Credential.bearer(Secret("expired"), name="apify main", shared=True))

    with pytest.raises(AuthFailed) as caught:
        http.get(serve(respond(401)).url).raise_for_status()
    assert (caught.value.credential, caught.value.shared) == ("apify main", True)


def test_the_error_quotes_what_the_server_said_in_one_line(http, serve):
    body = b'{"error":\n {"message": "Actor was not found"}}'

    with pytest.raises(Rejected, match=r'answered 404: \{"error": \{"message": "Actor was not found"\}\}\.$'):
        http.get(serve(respond(404, body, Content_Type="application/json")).url).raise_for_status()


def test_a_page_of_html_is_not_quoted(http, serve):
    with pytest.raises(Rejected, match=r"answered 404\.$"):
        http.get(serve(respond(404, b"<html>" + b"x" * 9000, Content_Type="text/html")).url).raise_for_status()


@pytest.mark.parametrize("fault", ["refuse", "lost_reply"])
def test_an_answer_that_is_lost_after_sending_leaves_the_outcome_unknown(http, sandbox, fault):
    sandbox.faults.add(fault, method="POST")

    with pytest.raises(OutcomeUnknown, match="may have been processed"):
        http.post(f"{sandbox.url}/apify/v2/actors/apify~instagram-post-scraper/runs", json={})
    assert sandbox.books.count(method="POST") == 1


def test_nothing_is_ever_sent_twice(http, sandbox):
    """Not even a GET over a connection that was used before."""
    page = f"{sandbox.url}/feeds/harbour-times.xml"
    http.get(page)
    sandbox.faults.add("lost_reply")

    with pytest.raises(OutcomeUnknown):
        http.get(page)
    assert sandbox.books.count(service="feeds") == 2


def test_garbage_in_place_of_an_answer_leaves_the_outcome_unknown(http, serve):
    with pytest.raises(OutcomeUnknown, match="garbled"):
        http.get(serve(b"220 smtp.example ESMTP\r\n\r\n").url)


def test_a_handshake_that_fails_means_not_sent(client, serve):
    server = serve()  # it waits for a request in plain words

    with pytest.raises(NotSent, match="took too long"):
        client(limits=Limits(connect=0.1)).post(server.url.replace("http:", "https:"), json={})

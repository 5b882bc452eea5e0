"""What is an answer, and where it ends: byte by byte, in any pieces, beside h11, which is taken at its word."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haulwright.sources.http.network_errors import RemoteProtocolError
from haulwright.sources.http.response_parser import HeadTooLarge, ResponseParser

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"


def parsed(*pieces: bytes, method: str = "GET", most: int = 4_096) -> tuple[ResponseParser, bytes]:
    parser = ResponseParser(method, most)
    return parser, b"".join([parser.feed(piece) for piece in pieces if piece])


@pytest.mark.parametrize("answer", [LENGTH, CHUNKED])
def test_an_answer_is_the_same_in_whatever_pieces_it_comes(answer):
    for cut in range(1, len(answer)):
        parser, body = parsed(answer[:cut], answer[cut:])
        assert (parser.status, body, parser.is_complete, parser.is_reusable) == (200, b"hello", True, True)

    parser, body = parsed(*(answer[at : at + 1] for at in range(len(answer))))
    assert (parser.is_complete, body) == (True, b"hello")


@pytest.mark.parametrize(
    "head",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/2 200 OK\r\n\r\n", b"HTTP/1.1 20 OK\r\n\r\n", b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: \xa05\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\x00c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", b"HTTP/1.1 200 OK\r\n: a\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: first\r\n\r\n", b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n",
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_no_answer(head):
    with pytest.raises(RemoteProtocolError):
        parsed(head)


@pytest.mark.parametrize(
    "body",
    [
        b"5\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"-5\r\nhello\r\n", b"5 hello\r\n", b"\r\n",
        b"5\r\nhelloX\r\n0\r\n\r\n", b"5\r\nhelloXX0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n",
        b"11111111111111111\r\n", b"5;a=\x00\r\nhello\r\n",
        b"5;" + b"x" * 20_000,
    ],
)  # fmt: skip
def test_chunks_that_do_not_fit_are_no_answer(body):
    with pytest.raises(RemoteProtocolError):
        parsed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)


def test_chunks_rule_over_a_length_and_the_connection_is_not_used_again():
    both = CHUNKED.replace(b"Transfer", b"Content-Length: 3\r\nTransfer", 1)

    parser, body = parsed(both)

    assert (body, parser.is_complete, parser.is_reusable) == (b"hello", True, False)


def test_what_comes_behind_an_answer_is_never_part_of_one():
    parser, body = parsed(LENGTH + LENGTH)

    assert (body, parser.has_excess, parser.is_reusable) == (b"hello", True, False)


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_an_answer_without_a_body_ends_with_its_head_and_a_body_all_the_same_is_excess(method, status):
    head = f"HTTP/1.1 {status} Whatever\r\nContent-Length: 5\r\n\r\n".encode()

    alone, _ = parsed(head, method=method)
    followed, body = parsed(head + b"hello", method=method)

    assert (alone.is_complete, alone.is_reusable) == (True, True)
    assert (followed.is_complete, followed.is_reusable, body) == (True, False, b"")


def test_interim_answers_are_passed_over_and_count_against_the_cap():
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"

    parser, body = parsed(b"HTTP/1.1 100 Continue\r\n\r\n" + hint + LENGTH)

    assert (parser.status, body, "link" in parser.headers) == (200, b"hello", False)
    with pytest.raises(HeadTooLarge):
        parsed(hint * 1_000)


def test_a_head_and_trailers_have_a_cap():
    for prefix in (b"HTTP/1.1 200 OK\r\n", CHUNKED[:-2]):
        with pytest.raises(HeadTooLarge):
            parsed(prefix, *[b"X-Padding: xxxxxxxxxxxxxxxxxxxxxxxx\r\n"] * 500)


def test_trailers_and_extensions_of_chunks_are_read_over():
    parser, body = parsed(
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5;name="va\tlue"\r\nhello\r\n000\r\nEtag: a\r\n\r\n'
    )

    assert (body, parser.is_complete, parser.is_reusable, "etag" in parser.headers) == (b"hello", True, True, False)


def test_an_answer_without_a_length_ends_with_the_connection_and_any_other_was_cut_off():
    parser, body = parsed(b"HTTP/1.0 200 OK\n\nhel", b"lo")
    parser.finish()

    assert (body, parser.is_complete, parser.is_reusable) == (b"hello", True, False)
    for cut in (b"", b"HTTP/1.1 2", LENGTH[:-1], CHUNKED[:-1], CHUNKED[:-5]):
        with pytest.raises(RemoteProtocolError):
            parsed(cut)[0].finish()


@pytest.mark.parametrize(
    ("lines", "reusable"),
    [
        ("HTTP/1.1 200 OK", True),
        ("HTTP/1.0 200 OK", False),
        ("HTTP/1.1 200 OK\r\nConnection: x, Close", False),
        ("HTTP/1.1 408 Request Timeout", False),
    ],
)
def test_a_connection_outlives_an_answer_where_both_sides_know_that_it_does(lines, reusable):
    parser, _ = parsed(f"{lines}\r\nContent-Length: 0\r\n\r\n".encode())

    assert (parser.is_complete, parser.is_reusable) == (True, reusable)


def test_fields_of_one_name_are_joined_folded_lines_unfolded_and_cookies_left_out():
    parser, _ = parsed(
        b"HTTP/1.1 200\r\nVary: a\r\nVARY:\tb \r\nSet-Cookie: secret=1\r\nX: one\r\n  two\r\nY: caf\xe9\r\n"
        b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n"
    )

    assert parser.headers == {"vary": "a, b", "x": "one two", "y": "café", "content-length": "0, 0"}


def by_h11(answer: bytes, method: str) -> tuple[int, bytes] | None:
    """Status and body as h11 reads them; None for what it takes for no answer."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(answer)
    connection.receive_data(b"")
    status, body = 0, b""
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return status, body
            elif not isinstance(event, h11.InformationalResponse):
                return None
    except h11.RemoteProtocolError:
        return None


def by_us(answer: bytes, method: str, cut: int) -> tuple[int, bytes] | None:
    try:
        parser, body = parsed(answer[:cut], answer[cut:], method=method, most=100_000)
        parser.finish()
    except RemoteProtocolError:
        return None
    return parser.status, body


STARTS = [
    b"HTTP/1.1 200 OK",
    b"HTTP/1.0 200 OK",
    b"HTTP/1.1 204 ",
    b"HTTP/1.1 100 Continue",
    b"HTTP/1.1 404",
    b"HTTP/1.1 2",
]
FIELDS = [
    b"Content-Length: 5", b"Content-Length: 4", b"content-length:0", b"Content-Length: 5,5",
    b"Transfer-Encoding: chunked",
    b"TRANSFER-ENCODING: Chunked ", b"Transfer-Encoding: gzip", b"Transfer-Encoding : chunked", b"X: \x80\xff", b" y",
    b"Connection: close", b"Content-Length: 5 ", b"A\x0b: b", b"A: \x0bb", b"A: b\rc", b"",
]  # fmt: skip
BODIES = [
    b"hello",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"0\r\n",
    b"5;a=b\r\nhello\r\n",
    b"\r\n",
    b"A: b\r\n",
    b"05 \r\nhello\r\n",
]
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"])
LINES = st.tuples(st.sampled_from(FIELDS), ENDS).map(b"".join)
HEADERS = st.lists(LINES, max_size=4).map(b"".join)
CONTENTS = st.lists(st.sampled_from(BODIES), max_size=4).map(b"".join)
ANSWERS = st.tuples(st.sampled_from(STARTS), ENDS, HEADERS, ENDS, CONTENTS).map(b"".join)


@settings(max_examples=2_000, deadline=None)
@given(answer=ANSWERS, method=st.sampled_from(["GET", "HEAD"]), share=st.floats(0, 1))
def test_h11_reads_the_same_or_we_read_nothing(answer, method, share):
    """We may be stricter, for what we refuse is asked for again; what we take for an answer is the same one."""
    ours = by_us(answer, method, int(len(answer) * share))

    assert ours is None or ours == by_h11(answer, method)

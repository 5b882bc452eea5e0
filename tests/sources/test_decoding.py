"""Bytes of other people become the text that they wrote."""

from __future__ import annotations

import pytest

from haulwright.sources.http import Reply
from haulwright.sources.tools.decoding import decode

WORDS = "Grüße, café and more"


@pytest.mark.parametrize(
    "head",
    ['<meta charset="UTF-16">', "<?xml version='1.0' encoding='utf-16'?>", "<?xml version='1.0' encoding='utf-32'?>"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize("end", ["", " ", "  ", "   "])
def test_what_says_in_ascii_that_it_is_utf_16_is_not(head, encoding, end):
    text, note = decode((head + f"<p>a café.</p>{end}").encode(encoding))

    assert "a café." in text
    assert note


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_what_is_utf_16_is_read_as_such(encoding):
    assert decode(f"<p>{WORDS}</p>".encode(encoding), "text/html; charset=utf-16")[0] == f"<p>{WORDS}</p>"


def test_utf_16_without_a_mark_is_believed_to_a_header_where_the_bytes_look_like_it():
    assert decode(WORDS.encode("utf-16-le"), "text/plain; charset=utf-16") == (WORDS, None)
    assert WORDS in decode(WORDS.encode("cp1252"), "text/plain; charset=utf-16")[0]


@pytest.mark.parametrize(
    "charset", ["undefined", "idna", "punycode", "unicode_escape", "utf-7", "rot13", "hex", "nonsense"]
)
def test_a_charset_that_no_document_is_written_in_does_not_keep_a_reply_from_being_read(charset):
    reply = Reply(200, "GET", "https://n.example/", {"content-type": f"text/plain; charset={charset}"}, WORDS.encode())

    assert reply.text == WORDS


def test_a_reply_is_read_in_the_charset_that_its_header_names():
    reply = Reply(
        200, "GET", "https://n.example/", {"content-type": "text/plain; charset=Latin1"}, WORDS.encode("latin1")
    )

    assert reply.text == WORDS

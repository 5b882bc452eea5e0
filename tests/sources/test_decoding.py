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
    for label, words, encoding in (("Latin1", WORDS, "latin1"), ("Shift_JIS", JAPANESE, "cp932")):
        headers = {"content-type": f"text/plain; charset={label}"}

        assert Reply(200, "GET", "https://n.example/", headers, words.encode(encoding)).text == words


JAPANESE, KOREAN, RUSSIAN = "日本語のニュースです。①㈱髙" * 5, "똠방각하 펲시콜라" * 5, "Новости гавани и порта. " * 5


@pytest.mark.parametrize(
    ("label", "encoding", "words"),
    [
        ("Shift_JIS", "cp932", JAPANESE), ("Windows-31J", "cp932", JAPANESE), ("x-sjis", "cp932", JAPANESE),
        ("x-euc-jp", "euc_jp", "日本語"), ("EUC-KR", "cp949", KOREAN), ("ks_c_5601-1987", "cp949", KOREAN),
        ("windows-949", "cp949", KOREAN), ("x-cp1251", "cp1251", RUSSIAN), ("koi8", "koi8-r", RUSSIAN),
        ("x-mac-cyrillic", "mac-cyrillic", RUSSIAN), ("x-gbk", "gbk", "新闻"), ("cn-big5", "big5", "新聞"),
        ("big5", "cp950", "新聞碁銹"), ("windows-874", "cp874", "ข่าว “ท่าเรือ”"), ("TIS-620", "cp874", "ข่าว “ท่าเรือ”"),
        ("iso-8859-9", "cp1254", "“İstanbul” haberleri"), ("iso-8859-8-i", "iso8859-8", "חדשות הנמל"),
        ("unicode-1-1-utf-8", "utf-8", JAPANESE),
    ],
)  # fmt: skip
def test_character_sets_go_by_all_the_names_that_browsers_know_and_mean_what_they_mean_there(label, encoding, words):
    body = f'<?xml version="1.0" encoding="{label}"?><p>{words}</p>'.encode(encoding)

    assert words in decode(body)[0]
    assert words in decode(words.encode(encoding), f"text/plain; charset={label}")[0]


@pytest.mark.parametrize(
    ("label", "encoding", "words", "stray"),
    [
        ("Shift_JIS", "cp932", JAPANESE, b"\x82"), ("EUC-KR", "cp949", KOREAN, b"\xc8"),
        ("windows-1251", "cp1251", RUSSIAN, b"\x98"), ("iso-8859-1", "utf-8", JAPANESE, b"\xe6"),
        ("windows-1251", "utf-8", RUSSIAN, b"\xd0"),
    ],
)  # fmt: skip
def test_one_stray_byte_or_a_cut_in_the_middle_of_a_character_does_not_spoil_a_page(label, encoding, words, stray):
    text, note = decode(words.encode(encoding) + stray, f"text/plain; charset={label}")

    assert words in text
    assert "1 bytes are no" in note

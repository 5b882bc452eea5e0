"""Bytes to text: what a document says about its encoding is often wrong, its bytes rarely are."""

from __future__ import annotations

import codecs
import re
from typing import Final

DECLARED_WITHIN_BYTES: Final = 1024

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_XML_ENCODING: Final = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""", re.ASCII)
_HTML_CHARSET: Final = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE | re.ASCII)
_HEADER_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE | re.ASCII)
# The character sets of documents. Python knows more codecs; some of them take quadratic time on hostile input.
_CHARACTER_SET: Final = re.compile(
    r"utf-?(8|16|32)|ascii|iso8859|cp\d|koi8|mac|gb|big5|euc|shift_ji|iso2022|johab|hz|tis|kz1048|ptcp154"
)
_SEVEN_BIT: Final = ("iso2022", "hz")
_WIDE: Final = ("utf-16", "utf-32")
_BETTER: Final = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
"""What is meant by a narrow name: the set that contains it, as browsers read it."""


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str | None]:
    """Return the text of a body, and what was wrong with what is said about its encoding."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace").lstrip("\ufeff"), None
    declared = _declared(body, content_type)
    for name in declared:
        if name.startswith(_SEVEN_BIT) and (text := _strictly(body, name)) is not None:
            return text, None
    if (text := _strictly(body, "utf-8")) is not None:  # other sets produce valid UTF-8 only by a rare accident
        wrong = declared and declared[0] != "utf-8" and not text.isascii()
        return text, f"declared as {declared[0]}, but it is utf-8" if wrong else None
    return _legacy(body, declared)


def _legacy(body: bytes, declared: list[str]) -> tuple[str, str | None]:
    """Return the text of a body that is no clean UTF-8: in a declared set, else in the likelier of two readings."""
    for name in declared:
        better = _BETTER.get(name, name)
        if name.startswith(_WIDE) and b"\0" not in body:
            continue  # it says so in ASCII, so it is not
        if name != "utf-8" and (text := _strictly(body, better) or _strictly(body, name)) is not None:
            return text, None if name == declared[0] else f"declared as {declared[0]}, but it is {name}"
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = len(text) - len(text.encode("ascii", "ignore")) - broken
    if whole >= broken:
        return text, f"{broken} bytes are no utf-8 and were replaced"
    return body.decode("cp1252", "replace"), "declared in no encoding that fits, read as windows-1252"


def _declared(body: bytes, content_type: str | None) -> list[str]:
    """Return the encodings that header and document speak of, the header's first, by Python's names."""
    head = body[:DECLARED_WITHIN_BYTES]
    header = _HEADER_CHARSET.search(content_type or "")
    inside = _XML_ENCODING.match(head) or _HTML_CHARSET.search(head)
    labels = [header[1] if header else "", inside[1].decode("ascii") if inside else ""]
    return list(dict.fromkeys(name for label in labels if (name := codec_of(label))))


def codec_of(label: str) -> str | None:
    """Return Python's name for a character set, None if it is none that documents are written in."""
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return None
    return name if _CHARACTER_SET.match(name) else None


def _strictly(body: bytes, name: str) -> str | None:
    """Return the text, None if a byte does not fit."""
    try:
        return body.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None

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
_BETTER: Final = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "cp950",
}  # fmt: skip
"""What is meant by a narrow name: the set that contains it, as browsers read it."""
_OTHER_NAMES: Final = {
    "unicode-1-1-utf-8": "utf-8", "unicode11utf8": "utf-8", "unicode20utf8": "utf-8", "x-unicode20utf8": "utf-8",
    "iso88591": "iso8859-1", "iso88592": "iso8859-2", "csisolatin9": "iso8859-15", "csiso88598e": "iso8859-8",
    "iso-8859-8-e": "iso8859-8", "visual": "iso8859-8", "csiso88598i": "iso8859-8", "iso-8859-8-i": "iso8859-8",
    "logical": "iso8859-8", "koi": "koi8-r", "koi8": "koi8-r", "koi8-ru": "koi8-u", "csmacintosh": "mac-roman",
    "mac": "mac-roman", "x-mac-roman": "mac-roman", "x-mac-cyrillic": "mac-cyrillic", "x-mac-ukrainian": "mac-cyrillic",
    "dos-874": "cp874", "windows-874": "cp874", "csgb2312": "gbk", "gb_2312": "gbk", "gb_2312-80": "gbk",
    "x-gbk": "gbk", "cn-big5": "big5", "x-x-big5": "big5", "cseucpkdfmtjapanese": "euc-jp", "x-euc-jp": "euc-jp",
    "windows-31j": "cp932", "x-sjis": "cp932", "cseuckr": "cp949", "csksc56011987": "cp949", "iso-ir-149": "cp949",
    "ks_c_5601-1989": "cp949", "ksc_5601": "cp949", "windows-949": "cp949", "csunicode": "utf-16-le",
    "iso-10646-ucs-2": "utf-16-le",
    "ucs-2": "utf-16-le", "unicode": "utf-16-le", "unicodefeff": "utf-16-le", "unicodefffe": "utf-16-be",
    **{f"x-cp{number}": f"cp{number}" for number in range(1250, 1259)},
}  # fmt: skip
"""Names that browsers know (WHATWG Encoding) and Python does not."""
FEW: Final = 20
"""One broken character among so many whole ones, beyond ASCII, is a slip of whoever wrote the page, or a cut."""


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
    text, broken, whole = _loosely(body, "utf-8")
    if whole >= FEW * broken:  # no other set looks so much like it
        return text, f"{broken} bytes are no utf-8 and were replaced"
    fitting = [name for name in declared if name != "utf-8" and not (name.startswith(_WIDE) and b"\0" not in body)]
    for name in fitting:
        strict = _strictly(body, _BETTER.get(name, name)) or _strictly(body, name)
        if strict is not None:
            return strict, None if name == declared[0] else f"declared as {declared[0]}, but it is {name}"
    for name in fitting:
        loose, strays, good = _loosely(body, _BETTER.get(name, name))
        if good >= FEW * strays:
            return loose, f"{strays} bytes are no {name} and were replaced"
    if whole >= broken:
        return text, f"{broken} bytes are no utf-8 and were replaced"
    return body.decode("cp1252", "replace"), "declared in no encoding that fits, read as windows-1252"


def _loosely(body: bytes, name: str) -> tuple[str, int, int]:
    """Return the text with a mark for each broken byte, how many those are, and how many are whole beyond ASCII."""
    text = body.decode(name, "replace")
    broken = text.count("\ufffd")
    return text, broken, len(text) - len(text.encode("ascii", "ignore")) - broken


def _declared(body: bytes, content_type: str | None) -> list[str]:
    """Return the encodings that header and document speak of, the header's first, by Python's names."""
    head = body[:DECLARED_WITHIN_BYTES]
    header = _HEADER_CHARSET.search(content_type or "")
    inside = _XML_ENCODING.match(head) or _HTML_CHARSET.search(head)
    labels = [header[1] if header else "", inside[1].decode("ascii") if inside else ""]
    return list(dict.fromkeys(name for label in labels if (name := codec_of(label))))


def codec_of(label: str) -> str | None:
    """Return Python's name for a character set, None if it is none that documents are written in."""
    label = _OTHER_NAMES.get(label.lower(), label)
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return None
    return name if _CHARACTER_SET.match(name) else None


def meant_by(label: str) -> str | None:
    """Return the codec that reads what is written under this name, as browsers do; None as `codec_of`."""
    name = codec_of(label)
    return None if name is None else _BETTER.get(name, name)


def _strictly(body: bytes, name: str) -> str | None:
    """Return the text, None if a byte does not fit."""
    try:
        return body.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None

"""Text as an operator may see it: what would steer a terminal or turn a line around is shown as an escape.

Whatever is printed or logged passes here last, after it was redacted. What is stored stays as it came.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

# C0 without tab and line ends, DEL and C1, line and paragraph separators, bidirectional overrides and isolates,
# halves of surrogate pairs. A carriage return belongs to the end of a line and nowhere else.
_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT: Final = re.compile(rf"[{_CONTROLS}]|\r(?!\n)")
_IN_LINE: Final = re.compile(rf"[{_CONTROLS}\t\n\r]")
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_LAST_OF_LATIN_1: Final = 0xFF


def visible(text: str) -> str:
    r"""The text with controls as escapes such as \x1b. Tabs and the ends of lines stay."""
    return text if text.isprintable() else _IN_TEXT.sub(_escape, text)


def visible_line(text: str) -> str:
    """The same in one line: tabs and line ends are escapes too, so that no text can look like two lines."""
    return text if text.isprintable() else _IN_LINE.sub(_escape, text)


def visible_json(value: Any, indent: int | None = None) -> str:
    """The value as JSON that is safe to print: a reader gets what was stored, a terminal gets escapes."""
    return _IN_TEXT.sub(_escape_json, json.dumps(value, ensure_ascii=False, indent=indent))


def without_controls(text: str) -> str:
    """The text without them, for pages and files, where an escape would only be noise."""
    return text if text.isprintable() else _IN_TEXT.sub(_space_or_nothing, text)


def web_address(address: str | None) -> str | None:
    """The address, if a reader can follow it: http or https, with a host, and nothing that cannot be seen."""
    if not address or " " in address or not address.isprintable():
        return None
    try:
        parts = urlsplit(address)
        _ = parts.port  # refused where it is no number
    except ValueError:
        return None
    return address if parts.scheme in {"http", "https"} and parts.hostname else None


def _escape(control: re.Match[str]) -> str:
    code = ord(control[0])
    return _SHORT.get(control[0]) or (f"\\x{code:02x}" if code <= _LAST_OF_LATIN_1 else f"\\u{code:04x}")


def _escape_json(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"


def _space_or_nothing(control: re.Match[str]) -> str:
    return " " if control[0].isspace() else ""

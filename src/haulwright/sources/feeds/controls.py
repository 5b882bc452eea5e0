"""Control characters in what a feed says: read as what was meant, or left out, whichever format it was written in."""

from __future__ import annotations

import re
from typing import Final

# What XML does not allow, DEL, and C1, which in a feed is always Windows-1252 that somebody took for Latin-1.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ASCII_CONTROLS: Final = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_LINE_CONTROLS: Final = bytes([*range(0x20), 0x7F])
_FIRST_OF_C1: Final = 0x80
_LAST_OF_C1: Final = 0x9F


def without_control_characters(text: str) -> str:
    """The text as it was meant: typographic marks instead of C1, nothing instead of every other control."""
    if text.isascii():  # a pass over bytes takes a third of the time
        return text if len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text) else _CONTROLS.sub(_meant, text)
    return text if text.isprintable() else _CONTROLS.sub(_meant, text)


def is_line(text: str) -> bool:
    """Whether a text is one line of ASCII as it should be, with single spaces: there is nothing to clean of it."""
    if not text.isascii() or "  " in text or text[:1] == " " or text[-1:] == " ":
        return False
    return len(text.encode().translate(None, _LINE_CONTROLS)) == len(text)


def _meant(control: re.Match[str]) -> str:
    code = ord(control[0])
    return bytes([code]).decode("cp1252", "ignore") if _FIRST_OF_C1 <= code <= _LAST_OF_C1 else ""

"""Identifiers of sources: a handle however it was pasted, or the one address of a site."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from haulwright.errors import InvalidValue
from haulwright.sources.tools.urls import canonical_url

LONGEST_HANDLE_CHARS: Final = 150
_HANDLE: Final = re.compile(r"[\w.\-]+")
_BESIDE: Final = frozenset({"company", "in", "posts", "videos", "c", "user"})
"""Pieces of a profile's address that are not its name."""


def checked_identifier(shape: str, identifier: object) -> str:
    """The identifier in its one form: `@acme` and `https://www.instagram.com/acme/` are both `acme`."""
    text = identifier.strip() if isinstance(identifier, str) else ""
    if not text:
        raise InvalidValue(
            "identifier", identifier, "is empty", hint="Give a handle such as acme, or the address of a site."
        )
    return canonical_url(text if "://" in text else f"https://{text}") if shape == "web" else _handle(text)


def _handle(text: str) -> str:
    name = _last_piece(text) if "://" in text else text
    handle = name.removeprefix("@")
    if len(handle) > LONGEST_HANDLE_CHARS or not _HANDLE.fullmatch(handle):
        raise InvalidValue("identifier", text[:LONGEST_HANDLE_CHARS], "is no handle", hint="Give it as acme or @acme.")
    return handle


def _last_piece(address: str) -> str:
    try:
        pieces = [piece for piece in urlsplit(address).path.split("/") if piece and piece not in _BESIDE]
    except ValueError:
        return ""
    return pieces[0] if pieces else ""

"""What a file is, by its own first bytes: what its server says is often wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from haulwright.apps.documents.errors import Truncated, WrongKind

PDF: Final = "application/pdf"
HTML: Final = "text/html"
TEXT: Final = "text/plain"
BINARY: Final = "application/octet-stream"

LOOKED_AT_BYTES: Final = 4_096
TRAILER_WITHIN_BYTES: Final = 65_536
PDF_WITHIN_BYTES: Final = 1_024
"""Readers of PDF take one that begins so late: some servers put a few bytes of their own before it."""
_PDF: Final = b"%PDF-"
_BEGINNINGS: Final = {
    _PDF: PDF,
    b"PK\x03\x04": "application/zip",
    b"\x1f\x8b": "application/gzip",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"{\\rtf": "application/rtf",
}
_PAGES: Final = (b"<!doctype html", b"<html", b"<head", b"<body")
_BY_ENDING: Final = {".pdf": PDF, ".zip": "application/zip", ".png": "image/png", ".gz": "application/gzip",
                     ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif"}  # fmt: skip
_CERTAIN: Final = frozenset(_BEGINNINGS.values())
"""The kinds that nothing else can be taken for."""
_END_OF_PDF: Final = b"%%EOF"


def kind_of(path: Path, expected_kind: str | None = None) -> str:
    """The kind of a file. A PDF may begin a little late, where one is wanted or its end is there as well."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT_BYTES)
    for mark, kind in _BEGINNINGS.items():
        if head.startswith(mark):
            return kind
    if head.lstrip()[:32].lower().startswith(_PAGES):
        return HTML
    if _PDF in head[:PDF_WITHIN_BYTES] and (expected_kind == PDF or _has_trailer(path)):
        return PDF
    has_bom = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"))
    return TEXT if head and (has_bom or b"\0" not in head) else BINARY


def check_kind(path: Path, name: str, expected: str | None) -> str:
    """The kind of a file that arrived; refused where something else was asked for, or where its end is missing."""
    expected_kind = expected or _BY_ENDING.get(Path(name).suffix.lower())
    kind = kind_of(path, expected_kind)
    if expected_kind in _CERTAIN and kind != expected_kind:
        raise WrongKind(f"{name}: {expected_kind} was asked for, and {kind} came.", hint="See what the address shows.")
    if kind == PDF and not _has_trailer(path):
        raise Truncated(f"{name}: the PDF ends before its end.")
    return kind


def _has_trailer(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TRAILER_WITHIN_BYTES))
        return _END_OF_PDF in file.read()

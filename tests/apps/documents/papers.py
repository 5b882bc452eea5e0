"""Small PDFs of several pages, made here: whole, encrypted, and with a page that no reader gets through."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, NameObject

from haulwright.sandbox.files.documents import pdf

SLOW = b"q 1 0 0 1 0 0 cm BT /F1 9 Tf (x) Tj ET Q\n" * 60_000


def paper(*names: str, broken: Sequence[int] = (), slow: Sequence[int] = (), title: str = "") -> bytes:
    """A PDF with a page for each name, which its text says; these pages of it, counted from 1, are broken or slow."""
    writer = PdfWriter()
    for name in names:
        writer.append(PdfReader(io.BytesIO(pdf(7, name, 1))))
    for number in (*broken, *slow):
        stream = DecodedStreamObject()
        stream.set_data(SLOW if number in slow else b"no content")
        if number in broken:
            stream[NameObject("/Filter")] = NameObject("/NoSuchDecode")
        writer.pages[number - 1][NameObject("/Contents")] = writer._add_object(stream)
    if title:
        writer.add_metadata({"/Title": title})
    return _bytes(writer)


def encrypted(body: bytes, password: str, algorithm: str = "AES-256") -> bytes:
    """The same, which only who knows the password reads; with none, everybody whose reader knows the algorithm."""
    writer = PdfWriter(clone_from=io.BytesIO(body))
    writer.encrypt(user_password=password, owner_password=password[::-1] or None, algorithm=algorithm)
    return _bytes(writer)


def _bytes(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()

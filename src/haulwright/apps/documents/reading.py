"""The text of a file, as far as it is indexed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from haulwright.apps.documents.kinds import HTML, PDF, TEXT
from haulwright.apps.documents.page_text import read_page
from haulwright.apps.documents.pdf_reading import problem_of, read_pdf
from haulwright.sources.tools.decoding import decode

if TYPE_CHECKING:
    from haulwright.apps.documents.settings import DocumentSettings

MOST_CHARS: Final = 200_000
MOST_BYTES: Final = 4 * MOST_CHARS
LONGEST_TITLE_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says."""

    title: str = ""
    text: str = ""
    """The pages of a PDF are divided by form feeds."""
    problem: str | None = None
    """Why there is no text, where there should be one, or what of it is missing; `encrypted` for itself."""
    is_whole: bool = True
    """Whether this is all that it says: two texts that only begin alike are not the same."""


async def read_text(path: Path, kind: str, figures: DocumentSettings) -> Reading:
    """The beginning of the text of a file. A file that cannot be read has none, and says why."""
    if kind == PDF:
        return await _read_pdf(path, figures)
    return await asyncio.to_thread(_read_file, path, kind)


def read_body(body: bytes, kind: str) -> Reading:
    """The same of bytes in memory, where no process of its own is needed."""
    if kind not in {TEXT, HTML}:
        return Reading(problem="no text is read from this kind")
    text, _ = decode(body[:MOST_BYTES])
    is_whole = len(body) <= MOST_BYTES
    if kind == HTML:
        page = read_page(text)
        return _reading(page.title, page.text, is_whole=is_whole)
    lines = (line.strip() for line in text.splitlines())
    return _reading(next((line for line in lines if line), ""), text, is_whole=is_whole)


def _read_file(path: Path, kind: str) -> Reading:
    with path.open("rb") as file:
        return read_body(file.read(MOST_BYTES + 1), kind)


async def _read_pdf(path: Path, figures: DocumentSettings) -> Reading:
    pdf_text = await read_pdf(path, MOST_CHARS, figures)
    problem = problem_of(pdf_text)
    shown = None if problem is None else _one_line(problem)
    return _reading(pdf_text.title, pdf_text.text, is_whole=pdf_text.is_whole, problem=shown)


def _reading(title: str, text: str, *, is_whole: bool, problem: str | None = None) -> Reading:
    return Reading(_one_line(title), _clipped(text), problem, is_whole=is_whole and len(text) <= MOST_CHARS)


def _clipped(text: str) -> str:
    """A text that both databases can hold, no longer than is indexed."""
    return text[:MOST_CHARS].replace("\0", " ").encode("utf-8", "replace").decode()


def _one_line(title: str) -> str:
    return " ".join(_clipped(title).split())[:LONGEST_TITLE_CHARS]

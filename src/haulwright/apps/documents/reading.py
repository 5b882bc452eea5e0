"""The text of a file, as far as it is indexed. A PDF is read by a process of its own: many are made to do harm."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from haulwright.extras import needs_extra

with needs_extra("apps", "Reading a document"):
    from selectolax.lexbor import LexborHTMLParser

from haulwright.apps.documents import pdf_child
from haulwright.apps.documents.kinds import HTML, PDF, TEXT
from haulwright.sources.tools.decoding import decode

if TYPE_CHECKING:
    from haulwright.apps.documents.settings import DocumentSettings

MOST_CHARS: Final = 200_000
MOST_BYTES: Final = 4 * MOST_CHARS
LONGEST_TITLE_CHARS: Final = 500
NOT_TEXT: Final = ("script", "style", "template", "noscript")
"""What a page has beside its text: nobody reads it, and what is new in every answer makes equal pages differ."""
START_SECONDS: Final = 10.0
"""What the process of a PDF may take on top, to start and to end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says."""

    title: str = ""
    text: str = ""
    problem: str | None = None
    """Why there is no text, where there should be one."""
    is_whole: bool = True
    """Whether this is all that it says: two texts that only begin alike are not the same."""


async def read_text(path: Path, kind: str, figures: DocumentSettings) -> Reading:
    """The beginning of the text of a file. A file that cannot be read has none, and says why."""
    if kind == PDF:
        return await _read_pdf(path, figures)
    if kind in {TEXT, HTML}:
        return await asyncio.to_thread(_read_plain, path, kind)
    return Reading(problem="no text is read from this kind")


def _read_plain(path: Path, kind: str) -> Reading:
    with path.open("rb") as file:
        text, _ = decode(file.read(MOST_BYTES))
        is_whole = not file.read(1)
    if kind == HTML:
        page = LexborHTMLParser(text)
        title = page.css_first("title")
        page.strip_tags(list(NOT_TEXT), recursive=True)
        body = page.body.text(separator=" ") if page.body else ""
        return _reading(title.text() if title else "", body, is_whole=is_whole)
    lines = (line.strip() for line in text.splitlines())
    return _reading(next((line for line in lines if line), ""), text, is_whole=is_whole)


async def _read_pdf(path: Path, figures: DocumentSettings) -> Reading:
    limits = (str(MOST_CHARS), str(figures.reading_seconds), str(figures.reading_bytes))
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", str(pdf_child.__file__), str(path), *limits,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        stdout, _ = await asyncio.wait_for(child.communicate(), figures.reading_seconds + START_SECONDS)
    except TimeoutError:
        return Reading(problem="the PDF took too long to read")
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    return _parse_output(stdout)


def _parse_output(stdout: bytes) -> Reading:
    """What the process said before it ended; one that was killed by its limits said nothing."""
    try:
        output = json.loads(stdout)
    except ValueError:
        return Reading(problem="the PDF needs more time or memory than it may have")
    if output["problem"]:
        return Reading(problem=f"the PDF cannot be read: {output['problem']}"[:LONGEST_TITLE_CHARS])
    return _reading(output["title"], output["text"], is_whole=output["is_whole"])


def _reading(title: str, text: str, *, is_whole: bool) -> Reading:
    return Reading(_one_line(title), _clipped(text), is_whole=is_whole and len(text) <= MOST_CHARS)


def _clipped(text: str) -> str:
    """A text that both databases can hold, no longer than is indexed."""
    return text[:MOST_CHARS].replace("\0", " ").encode("utf-8", "replace").decode()


def _one_line(title: str) -> str:
    return " ".join(_clipped(title).split())[:LONGEST_TITLE_CHARS]

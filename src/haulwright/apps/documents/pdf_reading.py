"""The text of a PDF, page by page, from a process of its own: many are made to do harm."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.documents import pdf_child

if TYPE_CHECKING:
    from haulwright.apps.documents.settings import DocumentSettings

PAGE_END: Final = "\f"
"""Stands between two pages, also where one of them has no text: the number of a page is that of the ends before it."""
ENCRYPTED: Final = "encrypted"
"""What is wrong with a PDF that needs a password."""
MOST_PAGES: Final = 2_000
START_SECONDS: Final = 10.0
"""What the process of a PDF may take on top, to start and to end."""
LINE_BYTES: Final = 8 * 1024 * 1024
"""More than a title or a page can have: both are clipped, and each character of them is at most twelve of JSON."""
_SHOWN_PAGES: Final = 10


@dataclass(slots=True)
class PdfText:
    """What was read of a PDF."""

    title: str = ""
    pages: list[str] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    """Pages that could not be read, by their number, each with the reason."""
    problem: str | None = None
    """Why nothing could be read, or why it ended early."""
    is_whole: bool = False
    has_ended: bool = False
    """Whether the process came to its end; one that was killed by its limits did not."""

    @property
    def text(self) -> str:
        """All pages."""
        return PAGE_END.join(self.pages)

    def add(self, line: dict[str, Any]) -> None:
        """Take in what the process said."""
        if "page" in line:
            self.pages.append(line.get("text", ""))
            if "problem" in line:
                self.failed[line["page"]] = line["problem"]
        elif "problem" in line:
            self.problem, self.has_ended = line["problem"], True
        elif "is_whole" in line:
            self.is_whole, self.has_ended = line["is_whole"], True
        else:
            self.title = line["title"]


async def read_pdf(path: Path, most_chars: int, figures: DocumentSettings) -> PdfText:
    """What a PDF says, as far as its limits of time and memory allow: pages that were read before those stay."""
    limits = (str(most_chars), str(MOST_PAGES), str(figures.reading_seconds), str(figures.reading_bytes))
    pdf_text = PdfText()
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", str(pdf_child.__file__), str(path), *limits, limit=LINE_BYTES,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(figures.reading_seconds + START_SECONDS):
            await _take_lines(child, pdf_text)
    except TimeoutError:
        pdf_text.problem = "the PDF took too long to read"
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    return pdf_text


def problem_of(pdf_text: PdfText) -> str | None:
    """Why there is no text, or not all of it; None where nothing is wrong."""
    if pdf_text.problem == ENCRYPTED:
        return ENCRYPTED
    if pdf_text.problem is not None and pdf_text.has_ended:
        return f"the PDF cannot be read: {pdf_text.problem}"
    if not pdf_text.has_ended:
        after = f"; it was read to page {len(pdf_text.pages)}" if pdf_text.pages else ""
        return f"{pdf_text.problem or 'the PDF needs more time or memory than it may have'}{after}"
    if not pdf_text.failed:
        return None
    number, why = next(iter(pdf_text.failed.items()))
    numbers = ", ".join(map(str, list(pdf_text.failed)[:_SHOWN_PAGES]))
    more = ", ..." if len(pdf_text.failed) > _SHOWN_PAGES else ""
    return (
        f"{len(pdf_text.failed)} of {len(pdf_text.pages)} pages cannot be read: {numbers}{more} (page {number}: {why})"
    )


async def _take_lines(child: asyncio.subprocess.Process, pdf_text: PdfText) -> None:
    assert child.stdout is not None  # noqa: S101 - it is a pipe, see above
    async for line in child.stdout:
        with suppress(ValueError):  # half a line of a process that was killed
            pdf_text.add(json.loads(line))
    await child.wait()

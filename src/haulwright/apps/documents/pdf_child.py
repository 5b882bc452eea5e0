"""Reads the text of a PDF, in a process that may use so much time and memory and no more. It imports nothing of ours.

python -I pdf_child.py FILE CHARS PAGES SECONDS BYTES      prints a line of JSON for each thing that it learns:

    {"title": ...}                      once
    {"page": 3, "text": ...}            or {"page": 3, "problem": ...}: the others go on
    {"problem": ...}                    where the file as a whole cannot be read; "encrypted" where it needs a password
    {"is_whole": ...}                   last, where nothing ended it before; whether this is all that it says
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

PAGE_SHARE = 1 / 3
"""What of the whole time one page may take."""
PROBLEM_CHARS = 200


class PageTooSlow(BaseException):
    """One page takes more than its share. It is no Exception, for the reader catches those."""


def limit(seconds: float, memory_bytes: int) -> None:
    """From here on the system ends this process where it takes more."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read(path: str, most_chars: int, most_pages: int, page_seconds: float) -> Iterator[dict[str, Any]]:
    """The title of a PDF and the beginning of its text, page by page."""
    from pypdf import PdfReader  # noqa: PLC0415 - under the limits already

    reader = PdfReader(path)
    if reader.is_encrypted and not reader.decrypt(""):
        yield {"problem": "encrypted"}
        return
    yield {"title": str((reader.metadata.title if reader.metadata else None) or "")[:most_chars]}
    remaining, is_whole = most_chars, True
    for number in range(1, len(reader.pages) + 1):
        if remaining <= 0 or number > most_pages:
            is_whole = False
            break
        try:
            text = _read_page(reader.pages, number - 1, page_seconds)
        except (Exception, PageTooSlow) as error:  # noqa: BLE001 - a hostile page may raise anything
            yield {"page": number, "problem": _shown(error)}
            is_whole = False
            continue
        yield {"page": number, "text": text[:remaining]}
        is_whole = is_whole and len(text) <= remaining
        remaining -= len(text) + 1
    yield {"is_whole": is_whole}


def _read_page(pages: Any, index: int, seconds: float) -> str:
    """The text of one page, within its share of the time."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return str(pages[index].extract_text())
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _too_slow(_number: int, _frame: object) -> None:
    raise PageTooSlow("it takes too long")


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:PROBLEM_CHARS]


def main(path: str, chars: str, pages: str, seconds: str, memory_bytes: str) -> None:
    """Read, and say what came of it, each line when it is known: what ends this process does not take it back."""
    limit(float(seconds), int(memory_bytes))
    logging.disable()
    signal.signal(signal.SIGVTALRM, _too_slow)
    try:
        for line in read(path, int(chars), int(pages), float(seconds) * PAGE_SHARE):
            print(json.dumps(line), flush=True)  # noqa: T201 - this is what it is for
    except Exception as error:  # noqa: BLE001 - as above
        print(json.dumps({"problem": _shown(error)}), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main(*sys.argv[1:])

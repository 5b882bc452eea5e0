"""Reads the text of a PDF, in a process that may use so much time and memory and no more. It imports nothing of ours.

python -I pdf_child.py FILE CHARS SECONDS BYTES      prints {"title": ..., "text": ..., "is_whole": ..., "problem": ...}
"""

from __future__ import annotations

import json
import logging
import resource
import sys


def limit(seconds: float, memory_bytes: int) -> None:
    """From here on the system ends this process where it takes more."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read(path: str, most_chars: int) -> dict[str, str | bool | None]:
    """The title of a PDF and the beginning of its text, and whether that is all of it."""
    from pypdf import PdfReader  # noqa: PLC0415 - under the limits already

    reader = PdfReader(path)
    title = reader.metadata.title if reader.metadata else None
    pieces: list[str] = []
    remaining = most_chars
    is_whole = True
    for page in reader.pages:
        if remaining <= 0:
            is_whole = False
            break
        text = page.extract_text()
        pieces.append(text[:remaining])
        is_whole = len(text) <= remaining
        remaining -= len(text) + 1
    return {"title": str(title or ""), "text": "\n".join(pieces), "is_whole": is_whole, "problem": None}


def main(path: str, chars: str, seconds: str, memory_bytes: str) -> None:
    """Read, and say what came of it."""
    limit(float(seconds), int(memory_bytes))
    logging.disable()
    try:
        output = read(path, int(chars))
    except (Exception, RecursionError) as error:  # noqa: BLE001 - a hostile file may raise anything
        output = {"title": "", "text": "", "is_whole": False, "problem": f"{type(error).__name__}: {error}"[:200]}
    sys.stdout.write(json.dumps(output))


if __name__ == "__main__":
    main(*sys.argv[1:])

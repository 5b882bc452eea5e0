"""The files of the proof: most are good, and some are duplicates, truncated, slow, or served by a liar."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from haulwright.sandbox import Sandbox

LARGEST = 120_000
KINDS = {"text": 6, "paper": 4, "copy": 6, "cut": 6, "liar": 3, "slow": 3, "page": 4, "good": 68}
"""How many of a hundred are of which kind."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One file that the manifest lists."""

    number: int
    kind: str
    url: str
    sha256: str | None
    """What it should end up as; None for what must never be filed."""


def fill(sandbox: Sandbox, count: int, seed: int) -> list[Listed]:
    """Put so many files on the host."""
    return list(_files(sandbox, count, Random(seed)))


def manifest(listed: list[Listed], path: Path) -> Path:
    """The manifest that lists them."""
    path.write_text("".join(json.dumps({"url": one.url}) + "\n" for one in listed))
    return path


def _files(sandbox: Sandbox, count: int, luck: Random) -> Iterator[Listed]:
    files = sandbox.files
    kinds = [kind for kind, share in KINDS.items() for _ in range(share)]
    for number in range(count):
        kind = kinds[number % len(kinds)] if count >= len(kinds) else kinds[number * len(kinds) // count]
        name, size = f"{number}{_ENDINGS.get(kind, '.bin')}", luck.randrange(1_000, LARGEST)
        address = f"{sandbox.url}/files/{name}"
        if kind in {"text", "paper"}:
            yield Listed(number, kind, address, files.sha256(name))
        elif kind == "copy":
            files.put(name, b"copy number %d of a few " % (number // 5 % 4) * 200)
            yield Listed(number, kind, address, files.sha256(name))
        elif kind == "page":
            files.put(name, b"<!doctype html><title>Sign in</title>")
            yield Listed(number, kind, address, None)
        else:
            _script(sandbox, kind, name, size)
            yield Listed(number, kind, f"{address}?size={size}", files.sha256(name, size))


_ENDINGS = {"text": ".txt", "paper": ".pdf", "page": ".pdf"}


def _script(sandbox: Sandbox, kind: str, name: str, size: int) -> None:
    script = sandbox.files.script
    if kind in {"cut", "liar"}:
        script(name=name, times=1, truncate_at=size // 2)
    if kind == "liar":
        script(name=name, times=1, ranges="lying", head="lying")
    if kind == "slow":
        script(name=name, pause_seconds=0.1, chunk_bytes=max(1, size // 10))

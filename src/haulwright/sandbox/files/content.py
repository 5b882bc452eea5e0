"""Bytes of any length that are the same every time and are never held at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from haulwright.sandbox.chance import chance

BLOCK = 65_536
STAMP = 8


class Content:
    """The bytes of one version of a file: a block of chance, each copy stamped with its place."""

    def __init__(self, seed: int, name: str, version: int, size: int) -> None:
        self.size = size
        self.tag = hashlib.sha256(f"{seed}/{name}/{version}/{size}".encode()).hexdigest()[:24]
        self._pattern = chance(seed, name, version).randbytes(BLOCK)

    def between(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes from start up to end, which is left out."""
        place = start
        while place < end:
            number, within = divmod(place, BLOCK)
            piece = self._block(number)[within : within + end - place]
            yield piece
            place += len(piece)

    def _block(self, number: int) -> bytes:
        return number.to_bytes(STAMP, "big") + self._pattern[STAMP:]


class Held(Content):
    """A small file whose bytes are given."""

    def __init__(self, body: bytes) -> None:
        self.size = len(body)
        self.tag = hashlib.sha256(body).hexdigest()[:24]
        self._body = body

    def between(self, start: int, end: int) -> Iterator[bytes]:
        """As above."""
        if start < end:
            yield self._body[start:end]


def sha256(content: Content) -> str:
    """The hash of the whole."""
    sum_so_far = hashlib.sha256()
    for piece in content.between(0, content.size):
        sum_so_far.update(piece)
    return sum_so_far.hexdigest()

"""A screenshot with 256 colours: a third of the bytes, and nobody sees the difference on a page of text."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

HEAD: Final = b"\x89PNG\r\n\x1a\n"
COLOURS: Final = 256
EXACT: Final = 48
"""So many of the most frequent colours stay just as they are."""
Pixel = tuple[int, ...]


def small_png(picture: bytes) -> bytes:
    """The same picture of eight bits a pixel, as `page.screenshot` gives it with 24."""
    chunks = list(_chunks(picture))
    width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    if (depth, colour) != (8, 2):
        message = f"a screenshot of another kind than RGB: depth {depth}, colour type {colour}"
        raise ValueError(message)
    rows = _rows(zlib.decompress(b"".join(data for name, data in chunks if name == b"IDAT")), width, height)
    pixels = [list(zip(row[0::3], row[1::3], row[2::3], strict=True)) for row in rows]
    counts = Counter(pixel for row in pixels for pixel in row)
    palette = _palette(counts)
    places = {pixel: _nearest(pixel, palette) for pixel in counts}
    body = b"".join(b"\0" + bytes([places[pixel] for pixel in row]) for row in pixels)
    return HEAD + b"".join(
        [
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(value for pixel in palette for value in pixel)),
            _chunk(b"IDAT", zlib.compress(body, 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _palette(counts: Counter[Pixel]) -> list[Pixel]:
    """The colours of the grounds as they are, then one for each shade: else the greys of letters would take all."""
    palette = [pixel for pixel, _ in counts.most_common(EXACT)]
    shades: dict[Pixel, Pixel] = {}
    for pixel, _ in counts.most_common():
        shades.setdefault(tuple(value >> 4 for value in pixel), pixel)
    return list(dict.fromkeys([*palette, *shades.values()]))[:COLOURS]


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(HEAD)
    while place < len(picture):
        (length,) = struct.unpack(">I", picture[place : place + 4])
        yield picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        place += length + 12


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _nearest(pixel: Pixel, palette: list[Pixel]) -> int:
    return min(range(len(palette)), key=lambda n: sum((a - b) ** 2 for a, b in zip(pixel, palette[n], strict=True)))


def _rows(body: bytes, width: int, height: int) -> Iterator[bytearray]:
    """The lines of a picture, with the filter of each taken back (PNG 1.2, section 6)."""
    length, above = width * 3, bytearray(width * 3)
    for number in range(height):
        begin = number * (length + 1)
        filter_type, row = body[begin], bytearray(body[begin + 1 : begin + 1 + length])
        for n in range(length):
            left, corner = (row[n - 3], above[n - 3]) if n >= 3 else (0, 0)
            row[n] = (row[n] + _predicted(filter_type, left, above[n], corner)) & 0xFF
        yield row
        above = row


def _predicted(filter_type: int, left: int, up: int, corner: int) -> int:
    if filter_type < 4:
        return (0, left, up, (left + up) // 2)[filter_type]
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))

"""Unpacking of bodies in small pieces: a bomb is noticed while it unfolds, and a body that ends too early is too."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final, Protocol

from haulwright.sources.http.classify import Undecodable

PIECE_BYTES: Final = 256 * 1024
MOST_CODINGS: Final = 2
ACCEPTED: Final = "gzip, deflate, br, zstd"
_ZSTD_WINDOW_LOG: Final = 23
"""8 MiB, as much as RFC 9659 lets a server ask for."""
_FRAME_BYTES: Final = 2
_GZIP_BITS: Final = zlib.MAX_WBITS | 16


class Decompressor(Protocol):
    """Unpacks one content coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes unfold into, in pieces of bounded size."""

    def finish(self) -> None:
        """Refuse a body that ended in the middle."""


def decompressors_for(content_encoding: str, what: object) -> list[Decompressor]:
    """Return what undoes a Content-Encoding, in the order in which it must be undone."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    codings = [name for name in names if name and name != "identity"]
    unknown = [name for name in codings if name not in _UNPACKERS]
    if unknown or len(codings) > MOST_CODINGS:
        why = f"the coding {unknown[0][:20]!r}, which is not known" if unknown else f"more than {MOST_CODINGS} codings"
        raise Undecodable(f"{what}: the body has {why}.")
    return [_UNPACKERS[name]() for name in reversed(codings)]


def decompress(
    unpackers: list[Decompressor], data: bytes, count: Callable[[int, int], None], at: int = 0
) -> Iterator[bytes]:
    """Return what bytes off the wire unfold into, through all codings, in pieces of bounded size.

    What each coding unfolds into is counted, by its place and in bytes: the next one may pass over all of it.
    """
    if at == len(unpackers):
        yield data
        return
    for piece in unpackers[at].feed(data):
        count(at, len(piece))
        yield from decompress(unpackers, piece, count, at + 1)


class _Zlib:
    """gzip, member after member, and deflate."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._stream = zlib.decompressobj(bits)
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        full = False
        while data or full:
            if self._stream.eof:
                if self._bits != _GZIP_BITS or data[:1] != b"\x1f":
                    return  # padding after the end, which everybody ignores
                self._stream = zlib.decompressobj(self._bits)
            piece = self._stream.decompress(data, PIECE_BYTES)
            self._started = True
            if piece:
                yield piece
            full = len(piece) == PIECE_BYTES and not self._stream.eof
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail

    def finish(self) -> None:
        if self._started and not self._stream.eof:
            raise EOFError


class _Deflate(_Zlib):
    """deflate as the RFC says, or without its frame as some servers send it: its first two bytes tell."""

    def __init__(self) -> None:
        super().__init__(zlib.MAX_WBITS)
        self._first = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        first = not self._started
        if first and len(data := self._first + data) < _FRAME_BYTES:
            self._first = data
            return
        try:
            yield from super().feed(data)
        except zlib.error:
            if not first or self._started:
                raise
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            yield from super().feed(data)

    def finish(self) -> None:
        if self._first and not self._started:
            raise EOFError
        super().finish()


class _Gzip(_Zlib):
    def __init__(self) -> None:
        super().__init__(_GZIP_BITS)


class _Brotli:
    def __init__(self) -> None:
        self._stream: Any = import_module("brotli").Decompressor()
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._started = self._started or bool(data)
        piece = self._stream.process(data, output_buffer_limit=PIECE_BYTES)
        while piece:
            yield piece
            piece = self._stream.process(b"", output_buffer_limit=PIECE_BYTES)

    def finish(self) -> None:
        if self._started and not self._stream.is_finished():
            raise EOFError


class _Zstd:
    """Zstandard, frame after frame, with a window of bounded size."""

    def __init__(self) -> None:
        self._library: Any = import_module(_ZSTD)
        self._stream = self._new()
        self._started = False

    def _new(self) -> Any:
        return self._library.ZstdDecompressor(
            options={self._library.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
        )

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._stream.needs_input or self._stream.eof):
            if self._stream.eof:
                self._stream = self._new()
            self._started = True
            piece = self._stream.decompress(data, PIECE_BYTES)
            if piece:
                yield piece
            data = self._stream.unused_data if self._stream.eof else b""

    def finish(self) -> None:
        if self._started and not self._stream.eof:
            raise EOFError


_ZSTD: Final = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
_UNPACKERS: Final[dict[str, type[_Gzip | _Deflate | _Brotli | _Zstd]]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}

"""Bodies under their caps: what travels, what it unfolds into, and the ratio of the two, checked piece by piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final

from haulwright.errors import HaulwrightError
from haulwright.sources.http.classify import TooLarge, Undecodable
from haulwright.sources.http.decompression import decompress, decompressors_for
from haulwright.sources.http.limits import MIB, Limits

RATIO_FROM_BYTES: Final = MIB
"""Below this a ratio says nothing: a page of spaces is no bomb."""
_HINT: Final = "If it is meant to be that large, give the call other Limits."


def check_declared(headers: Mapping[str, str], limits: Limits, what: object) -> None:
    """Refuse a body that says itself that it is too large, before any of it is read."""
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limits.wire_bytes:
        raise TooLarge(f"{what}: the body has {declared} bytes; {limits.wire_bytes} are allowed.", hint=_HINT)


def check_received(received: int, limits: Limits, what: object) -> None:
    """Refuse a body of which too much has travelled."""
    if received > limits.wire_bytes:
        raise TooLarge(f"{what}: the body has more than {limits.wire_bytes} bytes.", hint=_HINT)


def headers_too_large(limits: Limits, what: object) -> TooLarge:
    """The error for headers, before or behind a body, of which too many have come."""
    return TooLarge(f"{what}: the headers have more than {limits.header_bytes} bytes.")


async def read(chunks: AsyncGenerator[bytes, None], content_encoding: str, limits: Limits, what: object) -> bytes:
    """The whole body, unpacked. Memory stays within the cap, whatever is sent."""
    unpackers = decompressors_for(content_encoding, what)
    whole = bytearray()
    received = 0
    unpacked = [0] * len(unpackers)

    def count(at: int, size: int) -> None:
        unpacked[at] += size
        _check_unpacked(unpacked[at], received, limits, what)

    problem: HaulwrightError | None = None
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                received += len(chunk)
                for piece in decompress(unpackers, chunk, count):
                    whole += piece
                if not unpackers:
                    _check_unpacked(received, received, limits, what)
        for unpacker in unpackers:
            unpacker.finish()
    except EOFError:
        problem = Undecodable(f"{what}: the body ends before its {content_encoding} does.")
    except Exception as failure:
        if not _is_coding_error(failure):
            raise
        problem = Undecodable(f"{what}: the body is not {content_encoding}.")
    if problem:
        raise problem
    return bytes(whole)


def _check_unpacked(unpacked: int, received: int, limits: Limits, what: object) -> None:
    """Refuse a body that unfolds beyond the cap or the ratio."""
    if unpacked > limits.body_bytes:
        raise TooLarge(f"{what}: the body unfolds into more than {limits.body_bytes} bytes.", hint=_HINT)
    if unpacked > RATIO_FROM_BYTES and unpacked > received * limits.ratio:
        raise TooLarge(f"{what}: {received} bytes unfold into more than {limits.ratio} times as many.", hint=_HINT)


def _is_coding_error(failure: Exception) -> bool:
    """Whether a decoder says that these are not its bytes. Each library has an error of its own, none a common one."""
    return (type(failure).__module__.partition(".")[0], type(failure).__name__) in {
        ("zlib", "error"),
        ("brotli", "error"),
        ("_brotli", "error"),
        ("compression", "ZstdError"),
        ("backports", "ZstdError"),
        ("_zstd", "ZstdError"),
    }

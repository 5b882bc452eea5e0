"""As much of PostgreSQL's wire protocol as it takes to see a COMMIT go by."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

_LENGTH = struct.Struct("!I")


def messages(end: socket.socket, *, greeting: bool) -> Iterator[bytes]:
    """Whole messages as they arrive; a client's greeting is the only one without a letter before its length."""
    if greeting:
        length = _read(end, _LENGTH.size)
        yield length + _read(end, _LENGTH.unpack(length)[0] - _LENGTH.size)
    while letter := end.recv(1):
        length = _read(end, _LENGTH.size)
        yield letter + length + _read(end, _LENGTH.unpack(length)[0] - _LENGTH.size)


def statement_of(message: bytes) -> tuple[str, bytes, bytes]:
    """What a client's message does with statements: (kind, name, text); the kind is empty where it does nothing."""
    body = message[5:]
    match message[:1]:
        case b"Q":
            return "query", b"", body.rstrip(b"\0")
        case b"P":
            name, text, *_ = body.split(b"\0")
            return "parse", name, text
        case b"B":
            _portal, name, *_ = body.split(b"\0", 2)
            return "bind", name, b""
    return "", b"", b""


def is_commit_answer(message: bytes) -> bool:
    """Whether a server says that a COMMIT is done."""
    return message[:1] == b"C" and message[5:] == b"COMMIT\0"


def _read(end: socket.socket, size: int) -> bytes:
    """Exactly so many bytes."""
    read = bytearray()
    while len(read) < size:
        more = end.recv(size - len(read))
        if not more:
            raise ConnectionError
        read += more
    return bytes(read)

"""Reads one answer of HTTP/1.1 off the wire, without a socket: bytes go in, a head and a body come out.

As strict as h11, beside which it is tested: what could be read in two ways is no answer. Where RFC 9112 tells which way
is right although the sender is wrong (a length beside chunks), that way is taken and the connection not used again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from haulwright.sources.http.network_errors import RemoteProtocolError

MOST_LINE_BYTES: Final = 16_384
"""Of the line before a chunk, with all its extensions."""
_TOKEN: Final = rb"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_TEXT: Final = rb"[^\x00-\x08\x0a-\x1f\x7f]*"
_BLANK_LINE: Final = re.compile(rb"\n\r?\n")
_FIELDS: Final = rb"(?:" + _TOKEN + rb":" + _TEXT + rb"\r?\n(?:[ \t]" + _TEXT + rb"\r?\n)*+)*+"
_HEAD: Final = re.compile(
    rb"HTTP/1\.(?P<minor>[0-9]) (?P<status>[1-9][0-9]{2})(?: " + _TEXT + rb")?\r?\n(?P<fields>" + _FIELDS + rb")"
)
_TRAILERS: Final = re.compile(_FIELDS)
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
_BEGINNING: Final = b"HTTP/1."
_CHUNK_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;" + _TEXT + rb")?")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_CRLF: Final = b"\r\n"
_INFORMATIONAL: Final = range(100, 200)
_SWITCHING: Final = 101
_TIMED_OUT: Final = 408
_SUCCESSES: Final = range(200, 300)
_WITHOUT_BODY: Final = frozenset({204, 304})


class HeadTooLarge(Exception):
    """The head, or the trailers, are larger than they may be."""


class ResponseParser:
    """One answer, as far as it has come."""

    __slots__ = ("_buffer", "_left", "_method", "_most_head_bytes", "_read", "_room", "_until_close",
                 "has_excess", "headers", "is_complete", "is_reusable", "status")  # fmt: skip

    def __init__(self, method: str, most_head_bytes: int) -> None:
        self.status = 0
        """0 until the head is there."""
        self.headers: dict[str, str] = {}
        """Names in lower case, several of one name joined. Cookies are left out: they are secrets nobody here keeps."""
        self.is_complete = False
        self.is_reusable = False
        """Whether another request may be sent on this connection once the answer is complete."""
        self.has_excess = False
        """Something came behind the end of the answer, which nobody asked for."""
        self._method = method
        self._most_head_bytes = most_head_bytes
        self._room = most_head_bytes
        self._buffer = b""
        self._left = 0
        self._until_close = False
        self._read: Callable[[bytes], tuple[bytes, bytes]] = self._read_head

    def feed(self, data: bytes) -> bytes:
        """Take what came, and return what of it is body."""
        body: list[bytes] = []
        rest = self._buffer + data if self._buffer else data
        self._buffer = b""
        while rest:
            if self.is_complete:
                self.has_excess, self.is_reusable = True, False
                break
            before, reader = len(rest), self._read
            piece, rest = reader(rest)
            if piece:
                body.append(piece)
            if len(rest) == before and self._read == reader:
                self._buffer = rest
                break
        return body[0] if len(body) == 1 else b"".join(body)

    def finish(self, *, is_certain: bool = True) -> None:
        """Nothing more comes: an answer that has no other end ends so, any other was cut off.

        Not certain is an end that anybody on the way could have made.
        """
        if self._until_close and not is_certain:
            raise RemoteProtocolError("the connection ended without the word of TLS for it: the answer may be cut off")
        if self._until_close:
            self.is_complete = True
        if not self.is_complete:
            why = "closed the connection in the middle of its answer" if self.status else "answered nothing"
            raise RemoteProtocolError(f"the server {why}")

    def _read_head(self, data: bytes) -> tuple[bytes, bytes]:
        if not data.startswith(_BEGINNING[: len(data)]):
            raise RemoteProtocolError("the answer is no HTTP")
        end = self._end_of_lines(data)
        if end is None:
            return b"", data
        head = _HEAD.fullmatch(data, 0, _before_blank_line(data, end))
        if head is None:
            raise RemoteProtocolError("the head of the answer is malformed")
        status = int(head["status"])
        if status == _SWITCHING:
            raise RemoteProtocolError("the server changes the protocol, which nobody asked for")
        if status not in _INFORMATIONAL:
            self.status, self.headers = status, _fields(head["fields"])
            self._frame(is_newest=head["minor"] != b"0")
        return b"", data[end:]

    def _frame(self, *, is_newest: bool) -> None:
        """Decide how long the body is (RFC 9112, 6.3), and whether the connection outlives it."""
        length = _declared_length(self.headers.get("content-length"))
        coding = self.headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise RemoteProtocolError("the answer has a transfer coding that is not known")
        options = {option.strip() for option in self.headers.get("connection", "").lower().split(",")}
        self.is_reusable = is_newest and "close" not in options and (coding is None or length is None)
        if self.status == _TIMED_OUT:  # perhaps said of the time before this request, whose own answer is still to come
            self.is_reusable = False
        if self._method == "CONNECT" and self.status in _SUCCESSES:
            self.is_complete = self.is_reusable = True  # for what goes through the tunnel
        elif self._method == "HEAD" or self.status in _WITHOUT_BODY:
            self.is_complete = True
        elif coding is not None:
            self._read, self._room = self._read_chunk_line, self._most_head_bytes
        elif length is not None:
            self._left, self.is_complete = length, not length
            self._read = self._read_length
        else:
            self._read, self._until_close, self.is_reusable = self._read_all, True, False

    def _read_length(self, data: bytes) -> tuple[bytes, bytes]:
        piece = data if len(data) <= self._left else data[: self._left]
        self._left -= len(piece)
        self.is_complete = not self._left
        return piece, data[len(piece) :]

    @staticmethod
    def _read_all(data: bytes) -> tuple[bytes, bytes]:
        return data, b""

    def _read_chunk_line(self, data: bytes) -> tuple[bytes, bytes]:
        """Read as many chunks as are there whole: one that is not is left to the next reader."""
        pieces: list[bytes] = []
        at = 0
        while True:
            end = data.find(_CRLF, at, at + MOST_LINE_BYTES)
            if end < 0:
                if len(data) - at >= MOST_LINE_BYTES:
                    raise RemoteProtocolError("the line before a chunk is too long")
                return b"".join(pieces), data[at:]
            line = _CHUNK_LINE.fullmatch(data, at, end)
            if line is None:
                raise RemoteProtocolError("the line before a chunk is malformed")
            size, start = int(line[1], 16), end + 2
            if not size:
                self._read = self._read_trailers
                return b"".join(pieces), data[start:]
            if len(data) < start + size + 2:
                self._left, self._read = size, self._read_chunk
                return b"".join(pieces), data[start:]
            if data[start + size : start + size + 2] != _CRLF:
                raise RemoteProtocolError("a chunk does not end where it should")
            pieces.append(data[start : start + size])
            at = start + size + 2

    def _read_chunk(self, data: bytes) -> tuple[bytes, bytes]:
        piece = data if len(data) <= self._left else data[: self._left]
        self._left -= len(piece)
        if not self._left:
            self._read = self._read_chunk_end
        return piece, data[len(piece) :]

    def _read_chunk_end(self, data: bytes) -> tuple[bytes, bytes]:
        if not _CRLF.startswith(data[:2]):
            raise RemoteProtocolError("a chunk does not end where it should")
        if len(data) < len(_CRLF):
            return b"", data
        self._read = self._read_chunk_line
        return b"", data[2:]

    def _read_trailers(self, data: bytes) -> tuple[bytes, bytes]:
        """Headers behind the body: nobody here needs them."""
        if data.startswith((_CRLF, b"\n")):
            self.is_complete = True
            return b"", data[2 if data.startswith(_CRLF) else 1 :]
        end = self._end_of_lines(data)
        if end is None:
            return b"", data
        if not _TRAILERS.fullmatch(data, 0, _before_blank_line(data, end)):
            raise RemoteProtocolError("what stands behind the body is malformed")
        self.is_complete = True
        return b"", data[end:]

    def _end_of_lines(self, data: bytes) -> int | None:
        """Where the empty line behind some lines ends; None where it has not come yet."""
        match = _BLANK_LINE.search(data, 0, self._room + 2)
        if match is None:
            if len(data) > self._room:
                raise HeadTooLarge
            return None
        self._room -= match.end()
        if self._room < 0:
            raise HeadTooLarge
        return match.end()


def _before_blank_line(data: bytes, end: int) -> int:
    """Where the lines end that an empty line stands behind."""
    return end - (2 if data[end - 2 : end] == _CRLF else 1)


def _fields(block: bytes) -> dict[str, str]:
    if b"\n " in block or b"\n\t" in block:
        block = _FOLD.sub(b" ", block)
    fields: dict[str, str] = {}
    for line in block.decode("latin-1").split("\n")[:-1]:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t\r")
        if name in fields:
            fields[name] += f", {value}"
        elif not name.startswith("set-cookie"):
            fields[name] = value
    return fields


def _declared_length(text: str | None) -> int | None:
    """What Content-Length says. Said twice, it must say the same."""
    if text is None:
        return None
    lengths = {length.strip(" \t") for length in text.split(",")}
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise RemoteProtocolError("the answer has no length that can be understood")
    return int(length)

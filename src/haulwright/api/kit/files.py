"""Files as answers: whole, or the range that was asked for, never shown by a browser as a page of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from urllib.parse import quote

from fastapi import Response
from fastapi.responses import StreamingResponse

from haulwright.api.kit.problems import problem, request_id_of

if TYPE_CHECKING:
    from fastapi import Request

CHUNK_BYTES: Final = 256 * 1024
MOST_DIGITS: Final = 19
"""Of a place in a file; no file is longer."""
NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_RANGE: Final = re.compile(rf"bytes=\s*([0-9]{{0,{MOST_DIGITS}}})-([0-9]{{0,{MOST_DIGITS}}})\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiFile:
    """A file to be given out. Its bytes are named by its tag: other bytes have another one."""

    path: Path
    name: str
    """What whoever saves it should call it."""
    media_type: str
    tag: str


def file_response(request: Request, file: ApiFile) -> Response:
    """A file as an answer: whole, a range of it, 304 where the caller has it, 416 where it has no such range."""
    mark = f'"{file.tag}"'
    headers = {
        "ETag": mark,
        "Content-Type": file.media_type,  # as it stands: nobody knows in which characters a text is
        "Accept-Ranges": "bytes",
        "Content-Disposition": disposition(file.name),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, no-cache",
    }
    held = request.headers.get("if-none-match", "")
    if held.strip() == "*" or mark in {word.strip().removeprefix("W/") for word in held.split(",")}:
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    body = file.path.open("rb")
    size = body.seek(0, 2)
    range_header = request.headers.get("range", "")
    if request.headers.get("if-range", mark) != mark:
        range_header = ""  # it holds a part of something else
    part = read_range(range_header, size)
    if part is not None and not part:
        body.close()
        return problem(
            HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
            "range_not_satisfiable",
            f"The file has {size} bytes, and none of them is in that range.",
            hint="Content-Range says how long it is.",
            request_id=request_id_of(request),
            headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"},
        )
    span = range(size) if part is None else part
    headers["Content-Length"] = str(len(span))
    if part is None:
        return StreamingResponse(_chunks(body, span), HTTPStatus.OK, headers)
    headers["Content-Range"] = f"bytes {span.start}-{span.stop - 1}/{size}"
    return StreamingResponse(_chunks(body, span), HTTPStatus.PARTIAL_CONTENT, headers)


def read_range(text: str, size: int) -> range | None:
    """The bytes that a Range header asks for, an empty range where the file has none of them; None for the whole.

    Several ranges at once, other units, and what is no range are answered with the whole file, as RFC 9110 has it.
    """
    match = _RANGE.fullmatch(text)
    first, last = match.groups() if match is not None else ("", "")
    if not first and not last:
        return None
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(min(int(first), size), min(int(last) + 1, size) if last else size)


def disposition(name: str) -> str:
    """The header by which a file is saved under a name and not shown; whatever the name is, it ends nothing."""
    plain = NOT_PLAIN.sub("_", name).lstrip(".") or "file"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _chunks(body: IO[bytes], span: range) -> Iterator[bytes]:
    with body:
        body.seek(span.start)
        left = len(span)
        while left and (chunk := body.read(min(CHUNK_BYTES, left))):
            left -= len(chunk)
            yield chunk

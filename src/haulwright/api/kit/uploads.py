"""Bodies that are no JSON: read as they are, no further than a limit, and only of callers who are known."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Request

LARGEST_UPLOAD_BYTES: Final = 16 * 1024**2


async def read_upload(request: Request) -> bytes:
    """The whole body; one that is too large is refused as soon as that is seen."""
    too_large = HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The body has more than {LARGEST_UPLOAD_BYTES} bytes, which are taken here.",
    )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > LARGEST_UPLOAD_BYTES:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_UPLOAD_BYTES:
            raise too_large
    return bytes(body)


Upload = Annotated[bytes, Depends(read_upload)]
"""The parameter by which an endpoint asks for a body as it is; it stands behind the caller, who is proven first."""

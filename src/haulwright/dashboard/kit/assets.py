"""Static files. Their addresses carry a digest of their content: a browser keeps them, and never has old ones."""

from __future__ import annotations

import hashlib
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from haulwright.api.kit.problems import problem, request_id_of

if TYPE_CHECKING:
    from starlette.requests import Request

PATH: Final = "/static/{digest}/{name:path}"
FOREVER: Final = "public, max-age=31536000, immutable"
MEDIA_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_DIGEST_CHARS: Final = 16


@cache
def _assets() -> dict[str, tuple[str, bytes, str]]:
    """Every file by its name below `static`: digest, content and media type. They are few, and part of the package."""
    assets = {}
    root = files("haulwright.dashboard") / "static"
    for folder, prefix in ((root, ""), (root / "vendor", "vendor/")):
        for file in folder.iterdir():
            suffix = f".{file.name.rpartition('.')[2]}"
            if suffix in MEDIA_TYPES:
                content = file.read_bytes()
                digest = hashlib.sha256(content).hexdigest()[:_DIGEST_CHARS]
                assets[f"{prefix}{file.name}"] = (digest, content, MEDIA_TYPES[suffix])
    return assets


@cache
def _release() -> str:
    """One digest of all files: modules import each other by relative names, so they stand under one."""
    digests = "".join(digest for _, (digest, *_) in sorted(_assets().items()))
    return hashlib.sha256(digests.encode()).hexdigest()[:_DIGEST_CHARS]


def asset_path(name: str) -> str:
    """Where a file is served, below the root of the dashboard."""
    _assets()[name]  # a template that names none fails here
    return f"/static/{_release()}/{name}"


async def serve(request: Request) -> Response:
    """A static file, for ever where its address has its digest."""
    asset = _assets().get(request.path_params["name"])
    if asset is None:
        detail = "There is no such file."
        return problem(HTTPStatus.NOT_FOUND, "not_found", detail, request_id=request_id_of(request))
    _, content, media_type = asset
    is_current = request.path_params["digest"] == _release()
    headers = {"Cache-Control": FOREVER if is_current else "no-store", "Content-Type": media_type}
    return Response(content, headers=headers)

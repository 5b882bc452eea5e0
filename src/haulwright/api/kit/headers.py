"""Headers of a request, looked up without making an object of all of them: there are few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope


def header_of(scope: Scope, name: bytes) -> str | None:
    """The first header of a name, which is in lower case; None where there is none."""
    for each, value in scope["headers"]:
        if each == name:
            text: str = value.decode("latin-1")
            return text
    return None


def headers_of(scope: Scope, name: bytes) -> list[str]:
    """All headers of a name, which is in lower case."""
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]

"""What an installation may leave out, and the line to type where it is needed.

The engine and the command line need little. What speaks HTTP, reads feeds and documents or talks to PostgreSQL comes
with an extra of the distribution; `pyproject.toml` says which packages each one brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final, Literal

from haulwright.errors import MissingExtra

Extra = Literal["postgres", "http", "apps", "web"]

PACKAGES: Final[Mapping[Extra, tuple[str, ...]]] = {
    "postgres": ("psycopg",),
    "http": ("feedparser", "httpx2", "idna", "protego", "selectolax", "w3lib"),
    "apps": ("pypdf", "rapidfuzz"),
    "web": ("fastapi", "httptools", "jinja2", "jwt", "uvicorn", "uvloop"),
}
"""What each extra brings, by the names under which it is imported; `apps` brings what `http` does as well."""


def require_extra(extra: Extra, purpose: str) -> None:
    """Refuse where a package of an extra is not there. Nothing is imported."""
    names = (*PACKAGES["http"], *PACKAGES["apps"]) if extra == "apps" else PACKAGES[extra]
    for package in names:
        if find_spec(package) is None:
            raise MissingExtra(extra, purpose, package)


@contextmanager
def needs_extra(extra: Extra, purpose: str) -> Iterator[None]:
    """Import what an extra brings inside this block; where it is missing, say what to install, and for what."""
    try:
        yield
    except MissingExtra:
        raise  # of something further in, which knows better
    except ImportError as error:
        is_absent = isinstance(error, ModuleNotFoundError)
        package = (error.name or extra).partition(".")[0]
        raise MissingExtra(extra, purpose, package, "" if is_absent else str(error)) from error

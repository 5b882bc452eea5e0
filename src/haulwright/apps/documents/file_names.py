"""Names that lead nowhere else: of files as a manifest gives them, and of the folders of tenants."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from haulwright.engine.keys import digest
from haulwright.errors import InvalidValue

LONGEST_NAME_BYTES: Final = 200
_PLAIN_TENANT: Final = re.compile(r"(?!t-)[a-z0-9][a-z0-9_-]{0,62}")
_UNUSUAL: Final = re.compile(r"[^\w.()+-]+")
_NO_NAME: Final = "document"


def checked_name(name: str) -> str:
    """A file name as somebody gave it; one that leads to another folder, or cannot be shown, is refused."""
    if "/" in name or "\\" in name or name.startswith(".") or not name.isprintable():
        raise InvalidValue("name", name[:LONGEST_NAME_BYTES], "is a path or hidden, not the plain name of a file")
    if len(name.encode()) > LONGEST_NAME_BYTES:
        raise InvalidValue("name", f"{name[:20]}…", f"is longer than {LONGEST_NAME_BYTES} bytes")
    return name


def name_of_url(url: str) -> str:
    """The plain name of a file that the last piece of an address gives."""
    last = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2], errors="replace")
    name = _UNUSUAL.sub("_", last).strip("._")
    while len(name.encode()) > LONGEST_NAME_BYTES:
        name = name[1:]
    return name or _NO_NAME


def tenant_folder(tenant: str) -> str:
    """The folder of a tenant: its name where that is plain, else a hash of it."""
    return tenant if _PLAIN_TENANT.fullmatch(tenant) else f"t-{digest(tenant)[:32]}"

"""Host names as DNS knows them: one encoding for what is asked and for what is compared."""

from __future__ import annotations

import re
from typing import Final

from haulwright.extras import needs_extra

_AUTHORITY: Final = re.compile(
    r"(?P<before>\s*(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#\\]*@)?)(?P<host>[^/?#\\@:]+)", re.IGNORECASE
)


def ascii_host(host: str) -> str | None:
    """Return a host by IDNA 2008, as browsers read it (UTS 46, nothing merged); None where no name can be so.

    IDNA 2003 makes strasse.de of straße.de, which is somebody else's.
    """
    if host.isascii():
        return host
    with needs_extra("http", "A host name in its own script"):
        import idna  # noqa: PLC0415  its tables are large, and most names have no need of them

    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except idna.IDNAError:
        return None


def with_ascii_host(url: str) -> str:
    """Return an address with its host by `ascii_host`; as it is where it has none, or one that no name can be."""
    if url.isascii() or not (place := _AUTHORITY.match(url)):
        return url
    host = ascii_host(place["host"])
    return url if host is None else place["before"] + host + url[place.end() :]

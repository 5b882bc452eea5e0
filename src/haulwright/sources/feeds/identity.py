"""Who an entry is: a key that stays the same at every reading, and a hash that follows what it says."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Final

KEY_VERSION: Final = 1
"""Part of every key. It grows when a rule below changes who an entry is."""

_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


def shared_guids(entries: Iterable[tuple[str | None, str | None]]) -> frozenset[str]:
    """Return the guids that stand for several addresses of one feed and so say too little."""
    seen = Counter(guid for guid, _ in set(entries) if guid)
    return frozenset(guid for guid, addresses in seen.items() if addresses > 1)


def entry_key(
    *, guid: str | None, guid_is_shared: bool, canonical_url: str | None, title: str, published_at: datetime | None
) -> str | None:
    """Return the key of an entry: by its guid, else its address, else its title and date; None if it has nothing."""
    if guid and not guid_is_shared:
        return _digest("guid", guid)
    if guid and canonical_url:
        return _digest("guid+url", guid, canonical_url)
    if canonical_url:
        return _digest("url", canonical_url)
    if words := normalised(title):
        return _digest("title", guid or "", words, published_at.isoformat() if published_at else "")
    return None


def guid_alt(guid: str | None) -> str | None:
    """Return the guid without scheme and host, which change when a site moves."""
    return _ORIGIN.sub("", guid, count=1) or guid if guid else None


def content_hash(title: str, text: str) -> str:
    """Return a hash that is equal for copies of one text, whatever their spaces and composed characters."""
    return _digest("content", normalised(title), normalised(text))


def normalised(text: str) -> str:
    """Return the text in one spelling: composed characters, single spaces, no difference of case."""
    words = " ".join(text.split()).casefold()
    return words if words.isascii() else unicodedata.normalize("NFKC", words)


def _digest(*parts: str) -> str:
    """Return the SHA-256 of parts that cannot run into one another."""
    counted = "".join(f"{len(part)}:{part}" for part in (str(KEY_VERSION), *parts))
    return hashlib.sha256(counted.encode("utf-8", "surrogatepass")).hexdigest()

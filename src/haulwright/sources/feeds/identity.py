"""Who an entry is: a key that stays the same at every reading, and a hash that follows what it says."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Final

KEY_VERSION: Final = 1
"""Part of every key. It grows when a rule below changes who an entry is."""

_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EntryNames:
    """What an entry says about who it is, the strongest name first; each further one tells it from its namesakes."""

    kind: str
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class EntryKey:
    """The key of one entry of a feed."""

    key: str
    is_completed: bool
    """Its strongest name stands for several entries of the feed and says too little by itself."""


def names_of(  # noqa: PLR0913  what an entry may say, each with a name
    *,
    guid: str | None,
    url: str | None,
    canonical_url: str | None,
    title: str,
    published_at: datetime | None,
    text: str,
) -> EntryNames | None:
    """Return the names of an entry: its guid, else its address, else what it says; None if it says nothing.

    Without guid and address a title is a name only together with a date: the same heading stands over many texts.
    """
    words, date = normalised(title), published_at.isoformat() if published_at else ""
    label = (words, date) if words else (date, normalised(text))
    if guid:
        return EntryNames("guid", ((guid,), (canonical_url or "",), label))
    if canonical_url:
        fragment = (url or "").partition("#")[2]
        return EntryNames("url", ((canonical_url,), (fragment, *label)))
    if words and date:
        return EntryNames("title", (("", words, date), (normalised(text),)))
    return EntryNames("text", ((words, date, normalised(text)),)) if words or text else None


def entry_keys(entries: Sequence[EntryNames | None]) -> list[EntryKey | None]:
    """Return the key of each entry of a feed: made of as few of its names as tell it from all others.

    Entries with all names in common are one entry that stands there several times, and get one key.
    """
    meant: dict[tuple[object, ...], set[EntryNames]] = {}
    for names in filter(None, entries):
        for prefix in _prefixes(names):
            meant.setdefault(prefix, set()).add(names)
    return [None if names is None else _key(names, meant) for names in entries]


def _prefixes(names: EntryNames) -> list[tuple[object, ...]]:
    return [(names.kind, *names.parts[:length]) for length in range(1, len(names.parts) + 1)]


def _key(names: EntryNames, meant: Mapping[tuple[object, ...], AbstractSet[EntryNames]]) -> EntryKey:
    prefixes = _prefixes(names)
    length = next(number for number, prefix in enumerate(prefixes, 1) if len(meant[prefix]) == 1)
    kind = names.kind if length == 1 else f"{names.kind}+{length - 1}"
    return EntryKey(_digest(kind, *(word for part in names.parts[:length] for word in part)), length > 1)


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

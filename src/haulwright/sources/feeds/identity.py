"""Who an entry is: a key that stays the same at every reading, and a hash that follows what it says."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

KEY_VERSION: Final = 1
"""Part of every key. It grows when a rule below changes who an entry is."""

_VERSION: Final = f"{len(str(KEY_VERSION))}:{KEY_VERSION}"
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


class EntrySays(NamedTuple):
    """What an entry says about who it is."""

    guid: str | None
    url: str | None
    canonical_url: str | None
    title: str
    published_at: datetime | None
    text: str

    def first(self) -> tuple[str, ...] | None:
        """Return the kind of its strongest name, and the name: guid, else address, else what it says; None if nothing.

        Without guid and address a title is a name only together with a date: the same heading stands over many texts.
        """
        if self.guid:
            return ("guid", self.guid)
        if self.canonical_url:
            return ("url", self.canonical_url)
        words, date = normalised(self.title), self._date()
        if words and date:
            return ("title", "", words, date)
        return ("text", words, date, normalised(self.text)) if words or self.text else None

    def others(self) -> tuple[tuple[str, ...], ...]:
        """Return what tells it from its namesakes, one thing after the other."""
        if not self.guid and not self.canonical_url:
            return ((normalised(self.text),),) if normalised(self.title) and self._date() else ()
        words, date = normalised(self.title), self._date()
        label = (words, date) if words else (date, normalised(self.text))
        if self.guid:
            return ((self.canonical_url or "",), label)
        return (((self.url or "").partition("#")[2], *label),)

    def _date(self) -> str:
        return self.published_at.isoformat() if self.published_at else ""


class EntryKey(NamedTuple):
    """The key of one entry of a feed."""

    key: str
    is_completed: bool
    """Its strongest name stands for several entries of the feed and says too little by itself."""


def entry_keys(entries: Sequence[EntrySays]) -> list[EntryKey | None]:
    """Return the key of each entry of a feed: made of as few of its names as tell it from all others.

    Entries with all names in common are one entry that stands there several times, and get one key.
    """
    firsts = [entry.first() for entry in entries]
    bearers: dict[tuple[str, ...], list[int]] = {}
    for number, first in enumerate(firsts):
        if first is not None:
            bearers.setdefault(first, []).append(number)
    keys: list[EntryKey | None] = [None] * len(entries)
    for first, numbers in bearers.items():
        if len(numbers) == 1:
            keys[numbers[0]] = EntryKey(_digest(*first), is_completed=False)
        else:
            for number, key in zip(numbers, _namesakes(first, [entries[n] for n in numbers]), strict=True):
                keys[number] = key
    return keys


def _namesakes(first: tuple[str, ...], entries: Sequence[EntrySays]) -> Iterator[EntryKey]:
    """Yield the keys of entries whose strongest name is the same."""
    names = [entry.others() for entry in entries]
    meant: dict[tuple[tuple[str, ...], ...], set[tuple[tuple[str, ...], ...]]] = {}
    for others in names:
        for length in range(len(others) + 1):
            meant.setdefault(others[:length], set()).add(others)
    for others in names:
        length = next(length for length in range(len(others) + 1) if len(meant[others[:length]]) == 1)
        kind = f"{first[0]}+{length}" if length else first[0]
        words = (word for part in others[:length] for word in part)
        yield EntryKey(_digest(kind, *first[1:], *words), is_completed=length > 0)


def guid_alt(guid: str | None) -> str | None:
    """Return the guid without scheme and host, which change when a site moves."""
    if not guid or "://" not in guid:
        return guid or None
    return _ORIGIN.sub("", guid, count=1) or guid


def content_hash(title: str, text: str) -> str:
    """Return a hash that is equal for copies of one text, whatever their spaces and composed characters.

    Both are given as one line each, with no white space but spaces, and those of the text are single.
    """
    return _digest("content", _spelled(single_spaced(title)), _spelled(text))


def normalised(text: str) -> str:
    """Return the text in one spelling: composed characters, single spaces, no difference of case."""
    return _spelled(" ".join(text.split()))


def single_spaced(line: str) -> str:
    """Return a line with single spaces."""
    return " ".join(line.split()) if "  " in line or line[:1] == " " or line[-1:] == " " else line


def _spelled(line: str) -> str:
    words = line.casefold()
    return words if words.isascii() else unicodedata.normalize("NFKC", words)


def _digest(*parts: str) -> str:
    """Return the SHA-256 of parts that cannot run into one another."""
    counted = _VERSION + "".join([f"{len(part)}:{part}" for part in parts])
    return hashlib.sha256(counted.encode("utf-8", "surrogatepass")).hexdigest()

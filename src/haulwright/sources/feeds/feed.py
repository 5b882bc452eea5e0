"""What a feed becomes: values that are the same whichever format the feed was written in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """How much of a feed is read at all. Beyond them it is refused before anything is made of it."""

    size_bytes: int = 32 * MIB
    """The body, after decompression."""
    entries: int = 20_000
    """Items of one feed."""
    elements: int = 1_000_000
    """Elements of one feed, of any kind: each costs time."""
    attributes: int = 100
    """Attributes of one element: with more of them feedparser takes quadratic time."""
    tags: int = 1_000
    """Tags of one entry, and of the feed itself, for the same reason."""
    depth: int = 500
    """Elements within one another. Markup that forgets its end tags nests too, so this is generous."""
    text_chars: int = 1 * MIB
    """The summary or content of one entry; the rest is cut off, with a warning."""
    text_tags: int = 10_000
    """Tags in one of them, for the same reason: a browser's way of reading takes ever longer the deeper they nest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed. Its key is unique within the feed and stays the same at every reading."""

    key: str
    """SHA-256 of its identity: the guid, else the canonical URL, else title and date, else the text.
    What several entries of the feed have in common is completed by what tells them apart. Scoped by the feed."""
    guid: str | None
    """What the feed calls the entry, as it stands there."""
    guid_alt: str | None
    """The guid without scheme and host: what stays the same when a site moves."""
    url: str | None
    """Where it leads, absolute, as the feed writes it. None where it has no link, never the feed's own address."""
    canonical_url: str | None
    """The one form of that address, for meeting the same article in other feeds."""
    title: str
    """Plain text."""
    summary: str
    """Plain text: the summary, else the text of the content."""
    content: str
    """HTML that is safe to show: a few known elements, links absolute, nothing that runs."""
    author: str | None
    published_at: datetime | None
    """UTC. None when the feed says none, or none that can be read; the warnings say which."""
    updated_at: datetime | None
    """UTC."""
    tags: tuple[str, ...]
    language: str | None
    content_hash: str
    """SHA-256 of title and text: changes when the article does, and is equal for copies of it."""
    warnings: tuple[str, ...] = ()
    """What was wrong with this entry and how it was read."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed as it was at one moment."""

    title: str
    link: str | None
    """The site that the feed belongs to."""
    format: str
    """"rss 2.0", "atom 1.0", "json feed 1.1"."""
    entries: tuple[Entry, ...]
    """In the order of the feed, each key once."""
    language: str | None = None
    ttl_seconds: int | None = None
    """How long the feed asks to be left alone."""
    warnings: tuple[str, ...] = ()
    """What was wrong with the feed and how it was read."""
    repeated: int = 0
    """Entries that were left out because they have the key of an earlier one."""
    refused: int = 0
    """Entries that were left out because nothing says who they are."""


class Text(NamedTuple):
    """A piece of text as a feed gives it."""

    value: str = ""
    is_html: bool = False
    base: str | None = None
    """The address that relative links within it start from."""


NO_TEXT: Final = Text()


class EntryDraft(NamedTuple):
    """An entry as one format gives it, before it is cleaned and has a key."""

    guid: str | None = None
    url: str | None = None
    title: Text = NO_TEXT
    summary: Text = NO_TEXT
    content: Text = NO_TEXT
    author: str | None = None
    published: str | None = None
    updated: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None


@dataclass(frozen=True, slots=True)
class FeedDraft:
    """A feed as one format gives it."""

    title: Text
    link: str | None
    format: str
    entries: tuple[EntryDraft, ...]
    language: str | None = None
    ttl_seconds: int | None = None
    warnings: tuple[str, ...] = ()

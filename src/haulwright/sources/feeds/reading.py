"""From bytes to a feed: decode, guard, read by format, clean, give keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import Final, NamedTuple

from haulwright.errors import InvalidValue
from haulwright.sources.feeds.controls import is_line, without_control_characters
from haulwright.sources.feeds.feed import Entry, EntryDraft, Feed, FeedDraft, FeedLimits, Text
from haulwright.sources.feeds.guard import check_size, check_xml, refuse_as_no_feed, without_prolog
from haulwright.sources.feeds.identity import EntryKey, EntrySays, content_hash, entry_keys, guid_alt, single_spaced
from haulwright.sources.feeds.json_feed import read_json
from haulwright.sources.feeds.markup import as_paragraphs, clean
from haulwright.sources.feeds.tree_feed import read_tree
from haulwright.sources.feeds.xml_feed import read_xml
from haulwright.sources.tools.dates import read_date
from haulwright.sources.tools.decoding import decode
from haulwright.sources.tools.urls import canonical_url

DEFAULT_LIMITS: Final = FeedLimits()
MOST_WARNINGS: Final = 20


def parse_feed(
    body: bytes,
    *,
    content_type: str | None = None,
    url: str | None = None,
    now: datetime | None = None,
    limits: FeedLimits = DEFAULT_LIMITS,
) -> Feed:
    """Return the feed in these bytes. Nothing is opened or fetched, whatever the bytes look like.

    What is broken but readable is read, and the warnings say how. What is no feed, or could do harm, raises Permanent
    naming what was found instead. `url` is where the bytes came from, for relative links; `now` tells which dates lie
    in the future.
    """
    check_size(body, limits)
    text, wrong_encoding = decode(body, content_type)
    draft = _read(text, url, limits)
    reader = _FeedReader(now or datetime.now(UTC), limits)
    entries, dropped = reader.entries(draft)
    encoding = [f"encoding: {wrong_encoding}"] if wrong_encoding else []
    return Feed(
        title=reader.words(draft.title),
        link=draft.link,
        format=draft.format,
        entries=tuple(entries),
        language=draft.language,
        ttl_seconds=draft.ttl_seconds,
        warnings=(*encoding, *draft.warnings, *dropped.notes()),
        repeated=dropped.repeated,
        refused=dropped.refused,
    )


def _read(text: str, url: str | None, limits: FeedLimits) -> FeedDraft:
    """Return the draft of the feed by the format that its first character speaks of."""
    start = text.lstrip()[:1]
    if start in {"{", "["}:
        return read_json(text, url, limits)
    document = without_prolog(text)
    draft = read_tree(document, url, limits) or read_xml(check_xml(document, limits), url)
    if not draft.entries and draft.format == "xml":
        refuse_as_no_feed(text)
    return draft


def _address(url: str | None) -> tuple[str | None, str | None]:
    """Return the canonical form of a link, and what is wrong with it."""
    if url is None:
        return None, None
    try:
        return canonical_url(url), None
    except InvalidValue as refusal:
        return None, f"the link {refusal.why}"


class _CleanEntry(NamedTuple):
    """An entry that has no key yet: who it is shows only beside the others of its feed."""

    draft: EntryDraft
    says: EntrySays
    summary: str
    content: str
    content_hash: str
    updated_at: datetime | None
    warnings: tuple[str, ...]

    def under(self, key: EntryKey) -> Entry:
        """Return the entry under its key, with a warning where its name is not its own."""
        draft, says, warnings = self.draft, self.says, self.warnings
        if key.is_completed and (says.guid or says.canonical_url):
            warnings = (*warnings, f"the {'guid' if says.guid else 'link'} stands for several entries")
        return Entry(
            key.key,
            draft.guid,
            guid_alt(draft.guid),
            draft.url,
            says.canonical_url,
            says.title,
            self.summary,
            self.content,
            draft.author,
            says.published_at,
            self.updated_at,
            draft.tags,
            draft.language,
            self.content_hash,
            warnings,
        )


@dataclass(slots=True)
class _DroppedEntries:
    """Entries that are left out: how many for which reason, and a line for each."""

    repeated: int = 0
    refused: int = 0
    lines: list[str] = field(default_factory=list)

    def repeat(self, number: int) -> None:
        self.repeated += 1
        self.lines.append(f"entry {number} repeats an earlier one and was left out")

    def refuse(self, number: int) -> None:
        self.refused += 1
        self.lines.append(f"entry {number} has no guid, link, title or text and was left out")

    def notes(self) -> list[str]:
        """The first lines, and how many there are beside them."""
        more = len(self.lines) - MOST_WARNINGS
        return [*self.lines[:MOST_WARNINGS], *([f"{more} more entries were left out"] if more > 0 else [])]


@dataclass(frozen=True, slots=True)
class _FeedReader:
    """Makes entries of drafts."""

    now: datetime
    limits: FeedLimits

    def entries(self, feed: FeedDraft) -> tuple[list[Entry], _DroppedEntries]:
        """Return each entry of the feed once, and what was left out."""
        entries = [self.entry(draft) for draft in feed.entries]
        keys = entry_keys([entry.says for entry in entries])
        kept: dict[str, Entry] = {}
        dropped = _DroppedEntries()
        for number, (entry, key) in enumerate(zip(entries, keys, strict=True), 1):
            if key is None:
                dropped.refuse(number)
            elif key.key in kept:
                dropped.repeat(number)
            else:
                kept[key.key] = entry.under(key)
        return list(kept.values()), dropped

    def entry(self, draft: EntryDraft) -> _CleanEntry:
        """Return what an entry says. A picture without words is told from others by its address."""
        published_at, wrong_date = read_date(draft.published, now=self.now)
        if draft.updated == draft.published:
            updated_at, wrong_update = published_at, wrong_date
        else:
            updated_at, wrong_update = read_date(draft.updated, now=self.now)
        canonical, wrong_link = _address(draft.url)
        title = self.words(draft.title)
        content, summary, line = self.bodies(draft)
        text_hash = content_hash(title, line)
        text = text_hash if summary else content
        notes = (wrong_link, wrong_date, wrong_update, self.too_long(draft))
        warnings = tuple(dict.fromkeys(note for note in notes if note)) if any(notes) else ()
        says = EntrySays(draft.guid, draft.url, canonical, title, published_at, text)
        return _CleanEntry(draft, says, summary, content, text_hash, updated_at, warnings)

    def bodies(self, draft: EntryDraft) -> tuple[str, str, str]:
        """Return the content as safe HTML, the summary as plain text, and the longest text, with single spaces."""
        content, summary = draft.content.value, draft.summary.value
        html, text, line = self.cleaned(draft.content if content else draft.summary, draft.url)
        if not content or not summary or summary == content:
            return html, text, line
        return html, self.words(draft.summary, draft.url), line

    def cleaned(self, text: Text, base: str | None) -> tuple[str, str, str]:
        """Return a text as safe HTML, as plain text, and that with single spaces."""
        value = self.shortened(text.value)
        if is_line(value) and (cleaned := as_paragraphs(value, is_html=text.is_html)):
            html, plain = cleaned
            return html, plain, plain
        if text.is_html:
            html, plain = clean(value, text.base or base)
        else:
            html, plain = escape(value.strip(), quote=False), " ".join(value.split())
        # Last, since a reference such as &#27; becomes a control only when it is read.
        html, plain = without_control_characters(html), without_control_characters(plain)
        return html, plain, single_spaced(plain)

    def words(self, text: Text, base: str | None = None) -> str:
        """Return a title or a summary as plain text."""
        value = text.value
        if "&" in value or "<" in value or len(value) > self.limits.text_chars:
            return self.cleaned(text, base)[1]
        return value if is_line(value) else without_control_characters(" ".join(value.split()))

    def too_long(self, draft: EntryDraft) -> str | None:
        """Return the warning for a text that was cut off."""
        texts = (draft.content.value, draft.summary.value)
        if max(map(len, texts)) <= min(self.limits.text_chars, self.limits.text_tags):
            return None
        return "the text is too long and was cut" if any(len(self.shortened(t)) < len(t) for t in texts) else None

    def shortened(self, value: str) -> str:
        """Return as much of a text as may be read."""
        value = value[: self.limits.text_chars]
        if len(value) <= self.limits.text_tags or value.count("<") <= self.limits.text_tags:
            return value
        return "<".join(value.split("<", self.limits.text_tags + 1)[:-1])

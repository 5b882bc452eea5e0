"""Articles: each taken in once, edited where it is edited, and never again after it was removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.brief.entries import ArticleDraft
from haulwright.sources.tools.urls import CANON_VERSION

if TYPE_CHECKING:
    from haulwright.application import Writing

CHUNK: Final = 100
"""Articles that one transaction takes in."""
_EDITED: Final = ("link", "guid", "title", "text", "author", "published_at", "content_hash")


@dataclass(frozen=True, slots=True)
class IntakeCounts:
    """What became of some articles."""

    new: int = 0
    edited: int = 0


def take_in(writing: Writing, tenant: str, feed_id: str, drafts: Sequence[ArticleDraft]) -> IntakeCounts:
    """Add what was never seen, and edit what the feed itself changed. Rows are written in the order of their ids."""
    hashes = sorted({name for draft in drafts for name in draft.names})
    ids_by_hash: dict[str, str] = dict(
        writing.each("articles.known", [{"hash": name} for name in hashes], tenant=tenant)
    )
    new, old = _split_new_from_seen(drafts, ids_by_hash)
    added = writing.each(
        "articles.add", [_row(*item) for item in sorted(new.items())], tenant=tenant, feed_id=feed_id,
        canon_version=CANON_VERSION,
    )  # fmt: skip
    # Only the names that it came with: a feed whose guids change with every fetch would fill the memory.
    names = {name: article_id for article_id, draft in new.items() for name in draft.names if name not in ids_by_hash}
    name_rows = [{"hash": name, "article_id": article_id} for name, article_id in sorted(names.items())]
    writing.each("articles.remember", name_rows, tenant=tenant)
    edit_rows = [_edit(*item) for item in sorted(old.items())]
    edited = writing.each("articles.edit", edit_rows, tenant=tenant, feed_id=feed_id)
    return IntakeCounts(len(added), len(edited))


def _split_new_from_seen(
    drafts: Sequence[ArticleDraft], ids_by_hash: Mapping[str, str]
) -> tuple[dict[str, ArticleDraft], dict[str, ArticleDraft]]:
    """Which of them are new and which are known, by the ids of their articles; the first of equals counts."""
    article_ids = dict(ids_by_hash)
    new: dict[str, ArticleDraft] = {}
    old: dict[str, ArticleDraft] = {}
    for draft in drafts:
        article_id = next((article_ids[name] for name in draft.names if name in article_ids), None)
        if article_id is None:
            article_id = draft.id
            new[article_id] = draft
        elif article_id not in new:
            old[article_id] = draft
        article_ids |= dict.fromkeys((name for name in draft.names if name not in article_ids), article_id)
    return new, old


def _row(article_id: str, draft: ArticleDraft) -> dict[str, Any]:
    return {"id": article_id, "url": draft.url} | {name: getattr(draft, name) for name in _EDITED}


def _edit(article_id: str, draft: ArticleDraft) -> dict[str, Any]:
    return {"id": article_id} | {name: getattr(draft, name) for name in _EDITED}

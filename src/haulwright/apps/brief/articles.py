"""Articles: each taken in once, edited where it is edited, and never again after it was removed."""

from __future__ import annotations

from collections.abc import Sequence
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
    repeated: int = 0
    """They are known, and nothing of them changed."""


def take_in(writing: Writing, tenant: str, feed_id: str, drafts: Sequence[ArticleDraft]) -> IntakeCounts:
    """Add what was never seen, and edit what the feed itself changed. Rows are written in the order of their ids."""
    articles = sorted(drafts, key=lambda draft: draft.id)
    ids = [{"article_id": draft.id} for draft in articles]
    seen = {article_id for (article_id,) in writing.each("articles.seen", ids, tenant=tenant)}
    unseen = [draft for draft in articles if draft.id not in seen]
    added = writing.each(
        "articles.add", [_row(draft) for draft in unseen], tenant=tenant, feed_id=feed_id, canon_version=CANON_VERSION
    )
    writing.each("articles.remember", [{"article_id": draft.id} for draft in unseen], tenant=tenant)
    edits = [_edit(draft) for draft in articles if draft.id in seen]
    edited = writing.each("articles.edit", edits, tenant=tenant, feed_id=feed_id)
    return IntakeCounts(len(added), len(edited), len(articles) - len(added) - len(edited))


def _row(draft: ArticleDraft) -> dict[str, Any]:
    return _edit(draft) | {"url": draft.url}


def _edit(draft: ArticleDraft) -> dict[str, Any]:
    return {"id": draft.id} | {name: getattr(draft, name) for name in _EDITED}

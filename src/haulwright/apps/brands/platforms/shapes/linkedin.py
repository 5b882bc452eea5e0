"""Posts of companies and people on LinkedIn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haulwright.apps.brands.platforms.shapes.item import (
    Normalized,
    address,
    addresses,
    body,
    counts,
    identity,
    line,
    listed,
    moment,
    within,
)


def linkedin(item: Mapping[str, Any]) -> Normalized:
    """An item of the company posts or the profile posts actor."""
    author, stats, media = within(item, "author"), within(item, "stats"), within(item, "media")
    return Normalized(
        external_id=identity(item, "activity_urn", "urn"),
        canonical_url=address(item.get("post_url"), item.get("url")),
        author=line(author.get("name")) or line(author.get("username")),
        body=body(item.get("text")),
        published_at=_posted(item.get("posted_at")),
        metrics=counts(likes=stats.get("total_reactions"), comments=stats.get("comments"), shares=stats.get("reposts")),
        media=addresses([each.get("url") for each in listed(media.get("items")) if isinstance(each, Mapping)]),
    )


def _posted(value: object) -> int | None:
    if isinstance(value, Mapping):
        return moment(value.get("timestamp") or value.get("date"))
    return moment(value)

"""Videos of YouTube."""

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
    moment,
    tags,
)


def youtube(item: Mapping[str, Any]) -> Normalized:
    """An item of the YouTube scraper."""
    return Normalized(
        external_id=identity(item, "id"),
        canonical_url=address(item.get("url")),
        author=line(item.get("channelUsername")) or line(item.get("channelName")),
        title=line(item.get("title")),
        body=body(item.get("text")),
        published_at=moment(item.get("date")),
        metrics=counts(likes=item.get("likes"), comments=item.get("commentsCount"), views=item.get("viewCount")),
        media=addresses([item.get("thumbnailUrl")]),
        hashtags=tags(item.get("hashtags")),
    )

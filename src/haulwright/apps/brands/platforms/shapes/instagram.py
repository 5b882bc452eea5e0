"""Posts and reels of Instagram."""

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


def instagram(item: Mapping[str, Any]) -> Normalized:
    """An item of the post or the reel scraper."""
    return Normalized(
        external_id=identity(item, "id"),
        canonical_url=address(item.get("url")),
        author=line(item.get("ownerUsername")),
        body=body(item.get("caption")),
        published_at=moment(item.get("timestamp")),
        metrics=counts(
            likes=item.get("likesCount"),
            comments=item.get("commentsCount"),
            views=item.get("videoViewCount"),
            plays=item.get("videoPlayCount"),
        ),
        media=addresses([item.get("videoUrl"), item.get("displayUrl")]) + addresses(item.get("images")),
        hashtags=tags(item.get("hashtags")),
    )

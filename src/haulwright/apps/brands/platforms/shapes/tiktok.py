"""Videos of TikTok."""

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
    within,
)


def tiktok(item: Mapping[str, Any]) -> Normalized:
    """An item of the TikTok scraper."""
    return Normalized(
        external_id=identity(item, "id"),
        canonical_url=address(item.get("webVideoUrl")),
        author=line(within(item, "authorMeta").get("name")),
        body=body(item.get("text")),
        published_at=moment(item.get("createTimeISO") or item.get("createTime")),
        metrics=counts(
            likes=item.get("diggCount"),
            comments=item.get("commentCount"),
            shares=item.get("shareCount"),
            saves=item.get("collectCount"),
            plays=item.get("playCount"),
        ),
        media=addresses(item.get("mediaUrls")),
        hashtags=tags(item.get("hashtags")),
    )

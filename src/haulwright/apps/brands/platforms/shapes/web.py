"""Pages of a site. A page is its address: without one it is nobody's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haulwright.apps.brands.platforms.shapes.item import Normalized, Unfit, address, body, line, within


def web(item: Mapping[str, Any]) -> Normalized:
    """An item of the website content crawler."""
    about, crawl = within(item, "metadata"), within(item, "crawl")
    url = address(about.get("canonicalUrl"), item.get("url"), crawl.get("loadedUrl"))
    if url is None:
        raise Unfit("missing_canonical_url", "it has no address")
    return Normalized(
        external_id=None,
        canonical_url=url,
        author=line(about.get("author")),
        title=line(about.get("title")),
        body=body(item.get("text")),
    )

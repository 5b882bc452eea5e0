"""What a brand tags and where it leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.snapshot.measures.feature import Feature, most_frequent
from haulwright.clock import Instant

MOST_TAGS = 15
MOST_HOSTS = 10


def hashtags(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """The tags in most items, in lower case and without their sign."""
    items_by_tag: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        for tag in {tag.lstrip("#").lower() for tag in item.hashtags} - {""}:
            items_by_tag[tag].append(item)
    yield from most_frequent("hashtags", items_by_tag, of=len(items), most=MOST_TAGS)


def links(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """The hosts that most items lead to."""
    items_by_host: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        for host in {_host(link) for link in item.links} - {""}:
            items_by_host[host].append(item)
    yield from most_frequent("links", items_by_host, of=len(items), most=MOST_HOSTS)


def _host(link: str) -> str:
    """The host of an address; empty where it is none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""

"""What a brand tags and where it leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from penstock.apps.brands.evidence import EvidenceItem
from penstock.apps.brands.measures.feature import Feature, most_frequent
from penstock.clock import Instant

MOST_TAGS = 15
MOST_HOSTS = 10


def hashtags(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """The tags in most items, in lower case and without their sign."""
    found: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        for tag in {tag.lstrip("#").lower() for tag in item.hashtags} - {""}:
            found[tag].append(item)
    yield from most_frequent("hashtags", found, of=len(items), most=MOST_TAGS)


def links(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """The hosts that most items lead to."""
    found: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        for host in {_host(link) for link in item.links} - {""}:
            found[host].append(item)
    yield from most_frequent("links", found, of=len(items), most=MOST_HOSTS)


def _host(link: str) -> str:
    """The host of an address; empty where it is none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""

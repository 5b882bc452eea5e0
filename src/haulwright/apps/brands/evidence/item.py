"""One normalized item: what a compile rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haulwright.clock import Instant


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One normalized item of a brand."""

    id: str
    platform: str
    capability: str
    content_type: str
    """What it is on its platform, such as `post` or `video`."""
    external_id: str | None
    canonical_url: str | None
    author: str | None
    title: str | None
    text: str
    published_at: Instant | None
    metrics: Mapping[str, int]
    """What was counted, such as `likes`, `comments` and `views`."""
    media: Sequence[Any]
    hashtags: Sequence[str]
    links: Sequence[str]
    connection_id: str
    run_id: str
    """The run that it was last seen in."""

    @property
    def source(self) -> str:
        """Where it comes from, as `platform.capability`."""
        return f"{self.platform}.{self.capability}"

    @property
    def kind(self) -> str:
        """What it is, as `platform.content_type`."""
        return f"{self.platform}.{self.content_type}"

"""What can be read from a platform, by which actor, how it is asked, and how much of it at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from haulwright.apps.brands.platforms.shapes import SHAPES
from haulwright.errors import InvalidValue

MOST_ITEMS: Final = 1_000
"""What one run may be asked for: its items are stored in one transaction."""
_DEFAULT_CAP: Final = 50
SWITCHED_OFF: Final = "Capability disabled (feature flag)"
"""Why a source is skipped."""


def require_cap(what: str, cap: object, most: int) -> None:
    """Refuse what is no number of items."""
    if isinstance(cap, bool) or not isinstance(cap, int) or not 1 <= cap <= most:
        raise InvalidValue(what, cap, f"is not a whole number from 1 to {most}")


@dataclass(frozen=True, slots=True)
class Capability:
    """One kind of source."""

    platform: str
    name: str
    actor: str
    """As in Apify's addresses: `user~name`."""
    content_type: str
    shape: str
    """In which shape the actor gives its items: a name of `shapes.SHAPES`."""
    subject: str
    """The field of the actor's input that says whom to read."""
    limit: str
    """The field that says how much."""
    given_as: Literal["text", "list", "urls"] = "list"
    """How the subject is written: as it is, in a list, or in a list of objects with a `url`."""
    address: str = "{}"
    """The subject as an address, where the actor wants one."""
    cap: int = _DEFAULT_CAP
    enabled: bool = True
    marked: bool = True
    """Whether the actor lets a field of ours go along, by which an interrupted start is found again."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the input."""

    def __post_init__(self) -> None:
        require_cap(f"cap of {self.key}", self.cap, MOST_ITEMS)
        if self.shape not in SHAPES:
            raise InvalidValue(f"shape of {self.key}", self.shape, f"is none of {', '.join(SHAPES)}")

    @property
    def key(self) -> str:
        """As `platform.capability`."""
        return f"{self.platform}.{self.name}"

    def build_input(self, identifier: str, cap: int) -> dict[str, Any]:
        """The actor's input for one source, with the cap in it."""
        subject = self.address.format(identifier)
        value: Any = {"text": subject, "list": [subject], "urls": [{"url": subject}]}[self.given_as]
        return {**self.extra, self.subject: value, self.limit: cap}

    def cap_of(self, settings: Mapping[str, Any]) -> int:
        """How much is read for a connection: what it says itself, within the cap of the capability."""
        return min(self.cap, int(settings.get("cap", self.cap)))


BUILT_IN: Final = (
    Capability(
        "instagram", "posts", "apify~instagram-post-scraper", "post", "instagram", "username", "resultsLimit"
    ),
    Capability(
        "instagram", "reels", "apify~instagram-reel-scraper", "reel", "instagram", "username", "resultsLimit"
    ),
    Capability(
        "tiktok", "profile_videos", "clockworks~tiktok-scraper", "video", "tiktok", "profiles", "resultsPerPage"
    ),
    Capability(
        "linkedin", "company_posts", "apimaestro~linkedin-company-posts", "post", "linkedin", "company_name", "limit",
        given_as="text",
    ),
    Capability(
        "linkedin", "profile_posts", "apimaestro~linkedin-profile-posts", "post", "linkedin", "username",
        "limit", given_as="text",
    ),
    Capability(
        "youtube", "channel_videos", "streamers~youtube-scraper", "video", "youtube", "startUrls", "maxResults",
        given_as="urls", address="https://www.youtube.com/@{}",
    ),
    Capability(
        "web", "pages", "apify~website-content-crawler", "page", "web", "startUrls", "maxCrawlPages", given_as="urls"
    ),
)  # fmt: skip

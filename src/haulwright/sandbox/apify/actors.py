"""The actors on offer, what they cost, and what they read from their input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from haulwright.sandbox.apify import pages, social, videos
from haulwright.sandbox.apify.timeline import Post

DEFAULT_ITEMS = 20
MOST_ITEMS = 1000

SUBJECT_FIELDS = (
    "username",
    "usernames",
    "directUrls",
    "profiles",
    "company_name",
    "companyName",
    "profileUrl",
    "startUrls",
    "urls",
    "searchQueries",
)
LIMIT_FIELDS = ("resultsLimit", "resultsPerPage", "limit", "maxResults", "maxCrawlPages", "maxPosts", "maxItems")

Render = Callable[[Post], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Actor:
    """One actor."""

    name: str
    """As in addresses: `user~name`."""
    render: Render
    """From a post of the world to an item as the actor gives it."""
    id_field: str
    date_field: str
    start_usd: float = 0.005
    item_usd: float = 0.0023
    seconds: float = 20.0
    """How long a run takes, unless a script says otherwise."""

    def subjects(self, fields: Mapping[str, Any]) -> list[str]:
        """Whom or what a run is to read; empty where the input does not say."""
        for field in SUBJECT_FIELDS:
            if fields.get(field):
                return [
                    _subject(subject)
                    for subject in (fields[field] if isinstance(fields[field], list) else [fields[field]])
                ]
        return []

    def limit(self, fields: Mapping[str, Any]) -> int:
        """How many items of each subject were asked for."""
        limit = next((fields[field] for field in LIMIT_FIELDS if isinstance(fields.get(field), int)), DEFAULT_ITEMS)
        return max(0, min(limit, MOST_ITEMS))


ACTORS: dict[str, Actor] = {
    actor.name: actor
    for actor in (
        Actor("apify~instagram-post-scraper", social.instagram_post, "id", "timestamp"),
        Actor("apify~instagram-reel-scraper", videos.instagram_reel, "id", "timestamp", item_usd=0.0026),
        Actor("clockworks~tiktok-scraper", videos.tiktok_video, "id", "createTimeISO", item_usd=0.004),
        Actor("apimaestro~linkedin-company-posts", social.linkedin_company_post, "activity_urn", "posted_at"),
        Actor("apimaestro~linkedin-profile-posts", social.linkedin_profile_post, "urn", "posted_at", item_usd=0.005),
        Actor("streamers~youtube-scraper", videos.youtube_video, "id", "date", item_usd=0.003, seconds=30.0),
        Actor("apify~website-content-crawler", pages.web_page, "url", "crawl", start_usd=0.02, item_usd=0.0005),
    )
}


def _subject(subject: Any) -> str:
    """A name, whether it was given as one, as an address, or as an object that holds an address."""
    address = subject.get("url", "") if isinstance(subject, dict) else str(subject)
    return str(address).rstrip("/").removeprefix("@") if "://" not in address else _from_address(str(address))


def _from_address(address: str) -> str:
    host, _, path = address.split("://", 1)[1].partition("/")
    is_platform = host.removeprefix("www.").split(".")[0] in {"instagram", "tiktok", "linkedin", "youtube"}
    pieces = [piece for piece in path.split("?")[0].split("/") if piece not in {"", "company", "in", "posts", "videos"}]
    return pieces[0].removeprefix("@") if is_platform and pieces else host

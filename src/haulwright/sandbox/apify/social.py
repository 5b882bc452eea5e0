"""Posts of Instagram and LinkedIn, in the fields of the actors that fetch them."""

from __future__ import annotations

from typing import Any

from haulwright.sandbox.apify.timeline import Post
from haulwright.sandbox.chance import identifier

COMMENTS = ("Love this", "Where can I buy it?", "Is it back in stock?", "Great work, team", "Mine broke after a week")


def instagram_post(post: Post) -> dict[str, Any]:
    """An item of the Instagram post scraper."""
    code = short_code(post)
    kind = post.luck("kind").choice(["Image", "Image", "Sidecar"])
    return {
        "id": post.digits("instagram", 19),
        "type": kind,
        "shortCode": code,
        "caption": post.caption,
        "hashtags": post.hashtags,
        "mentions": [],
        "url": f"https://www.instagram.com/p/{code}/",
        "commentsCount": post.figure("comments", 24),
        "firstComment": post.luck("comment").choice(COMMENTS),
        "latestComments": [],
        "dimensionsHeight": 1350,
        "dimensionsWidth": 1080,
        "displayUrl": f"https://cdn.example/instagram/{code}.jpg",
        "images": [
            f"https://cdn.example/instagram/{code}-{place}.jpg" for place in range(3 if kind == "Sidecar" else 0)
        ],
        "alt": None,
        "likesCount": post.figure("likes", 900),
        "timestamp": iso(post),
        "childPosts": [],
        "ownerFullName": post.subject.replace("_", " ").title(),
        "ownerUsername": post.subject,
        "ownerId": owner_id(post),
        "isSponsored": False,
        "isPinned": False,
        "inputUrl": f"https://www.instagram.com/{post.subject}",
    }


def linkedin_company_post(post: Post) -> dict[str, Any]:
    """An item of the LinkedIn company posts actor."""
    urn = post.digits("linkedin", 19)
    return {
        "activity_urn": urn,
        "full_urn": f"urn:li:activity:{urn}",
        "post_url": f"https://www.linkedin.com/feed/update/urn:li:activity:{urn}/",
        "text": post.caption,
        "posted_at": _posted(post),
        "post_language_code": "en",
        "post_type": "regular",
        "author": {
            "name": post.subject.replace("-", " ").title(),
            "follower_count": 10_000 + int(owner_id(post)) % 90_000,
            "company_url": f"https://www.linkedin.com/company/{post.subject}/posts",
            "logo_url": f"https://cdn.example/linkedin/{post.subject}.png",
        },
        "stats": _stats(post),
        "media": {"type": "image", "items": [{"url": f"https://cdn.example/linkedin/{urn}.jpg"}]},
        "source_company": post.subject,
    }


def linkedin_profile_post(post: Post) -> dict[str, Any]:
    """An item of the LinkedIn profile posts actor."""
    urn = post.digits("linkedin-profile", 19)
    first, _, last = post.subject.replace("-", " ").title().partition(" ")
    return {
        "urn": urn,
        "full_urn": f"urn:li:ugcPost:{urn}",
        "posted_at": _posted(post),
        "text": post.caption,
        "url": f"https://www.linkedin.com/posts/{post.subject}_{post.topic[1]}-activity-{urn}",
        "post_type": "regular",
        "author": {
            "first_name": first,
            "last_name": last,
            "headline": f"Building things people keep at {post.topic[1].title()} & Co",
            "username": post.subject,
            "profile_url": f"https://www.linkedin.com/in/{post.subject}",
        },
        "stats": _stats(post),
        "media": None,
    }


def short_code(post: Post) -> str:
    """The code of a post in Instagram's addresses."""
    return identifier(post.seed, post.subject, post.number, "instagram", length=11)


def owner_id(post: Post) -> str:
    """The number of the account."""
    return str(int.from_bytes(identifier(post.seed, post.subject, length=6).encode(), "big") % 10**10)


def iso(post: Post) -> str:
    """When it was published, as most actors write it."""
    return post.at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _posted(post: Post) -> dict[str, Any]:
    days = int((post.seen - post.published) // 86_400)
    return {
        "relative": f"{days}d" if days else "1h",
        "is_edited": False,
        "date": post.at.strftime("%Y-%m-%d %H:%M:%S"),
        "timestamp": int(post.published) * 1000,
    }


def _stats(post: Post) -> dict[str, int]:
    likes, support = post.figure("likes", 140), post.figure("support", 6)
    return {
        "total_reactions": likes + support,
        "like": likes,
        "support": support,
        "comments": post.figure("comments", 11),
        "reposts": post.figure("reposts", 7),
    }

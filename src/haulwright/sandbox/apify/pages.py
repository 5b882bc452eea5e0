"""Pages of a company's site, in the fields of the website content crawler."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from haulwright.sandbox.apify.timeline import Post

SECTIONS = ("about", "journal", "products", "help", "press", "careers")


def web_page(post: Post) -> dict[str, Any]:
    """An item of the crawler; the page with the lowest number is read first, as a crawler would."""
    section = SECTIONS[post.number % len(SECTIONS)]
    about, tag = post.topic
    url = f"https://{post.subject}/{section}/{tag}-{post.number}"
    title = f"{about.capitalize()} | {post.subject}"
    text = f"{about.capitalize()}\n\n{_paragraphs(post)}"
    return {
        "url": url,
        "crawl": {
            "loadedUrl": url,
            "loadedTime": datetime.fromtimestamp(int(post.seen), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "referrerUrl": f"https://{post.subject}/",
            "depth": 1,
            "httpStatusCode": 200,
        },
        "metadata": {
            "canonicalUrl": url,
            "title": title,
            "description": f"{post.subject}: {about}",
            "author": None,
            "keywords": ", ".join(post.hashtags),
            "languageCode": "en",
        },
        "screenshotUrl": None,
        "text": text,
        "markdown": f"# {about.capitalize()}\n\n{_paragraphs(post)}",
        "#error": False,
        "#debug": {"requestId": post.digits("request", 12), "retryCount": 0},
    }


def _paragraphs(post: Post) -> str:
    about, tag = post.topic
    return (
        f"Every week we write down {about}. This is part {post.number} of the series on {tag}.\n\n"
        f"{post.caption}\n\nWe ship from our own workshop, and we answer within a day."
    )

"""A paper's articles as a feed, in the formats that are about."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from xml.sax.saxutils import escape

from haulwright.sandbox.feeds.world import WorldArticle


@dataclass(frozen=True, slots=True)
class Channel:
    """The feed as a whole."""

    title: str
    base: str
    """The address under which its articles are."""
    name: str
    articles: Sequence[WorldArticle]
    """Newest first."""
    fetch: int = 0
    """Counts the fetches of odd feeds."""
    guid: Callable[[WorldArticle], str] = lambda article: f"urn:sandbox:{article.id}"
    date: Callable[[float], str] = lambda instant: formatdate(instant, usegmt=True)

    def link(self, article: WorldArticle) -> str:
        """Where an article is."""
        return f"{self.base}/articles/{article.id}"


def rss2(channel: Channel) -> bytes:
    """RSS 2.0 with the whole text."""
    items = "".join(
        f"<item><title>{escape(a.title)}</title><link>{channel.link(a)}</link>"
        f'<guid isPermaLink="false">{escape(channel.guid(a))}</guid>'
        f"<pubDate>{escape(channel.date(a.published))}</pubDate><category>{a.section}</category>"
        f"<dc:creator>{escape(a.author)}</dc:creator><description>{escape(a.summary)}</description>"
        f"<content:encoded>{escape(f'<p>{escape(a.text)}</p>')}</content:encoded></item>\n"
        for a in channel.articles
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>\n'
        f"<title>{escape(channel.title)}</title><link>{channel.base}/</link>"
        f"<description>News of {escape(channel.title)}</description><language>en</language><ttl>15</ttl>\n"
        f"{items}</channel></rss>\n"
    ).encode()


def rss091(channel: Channel) -> bytes:
    """RSS 0.91 with its harmless DOCTYPE: no dates and no ids, only titles and links."""
    items = "".join(
        f"<item><title>{escape(a.title)}</title><link>{channel.link(a)}</link>"
        f"<description>{escape(a.summary)}</description></item>\n"
        for a in channel.articles
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
        '"http://my.netscape.com/publish/formats/rss-0.91.dtd">\n'
        f'<rss version="0.91"><channel><title>{escape(channel.title)}</title><link>{channel.base}/</link>'
        f"<description>News</description><language>en</language>\n{items}</channel></rss>\n"
    ).encode()


def rss1(channel: Channel) -> bytes:
    """RSS 1.0, which is RDF."""
    listed = "".join(f'<rdf:li rdf:resource="{channel.link(a)}"/>' for a in channel.articles)
    items = "".join(
        f'<item rdf:about="{channel.link(a)}"><title>{escape(a.title)}</title><link>{channel.link(a)}</link>'
        f"<description>{escape(a.text)}</description><dc:date>{_iso(a.published)}</dc:date></item>\n"
        for a in channel.articles
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'<channel rdf:about="{channel.base}/"><title>{escape(channel.title)}</title><link>{channel.base}/</link>'
        f"<description>News</description><items><rdf:Seq>{listed}</rdf:Seq></items></channel>\n{items}</rdf:RDF>\n"
    ).encode()


def atom(channel: Channel) -> bytes:
    """Atom 1.0."""
    newest = max((a.updated for a in channel.articles), default=0.0)
    entries = "".join(
        f'<entry><id>{escape(channel.guid(a))}</id><title>{escape(a.title)}</title><link href="{channel.link(a)}"/>'
        f"<published>{_iso(a.published)}</published><updated>{_iso(a.updated)}</updated>"
        f'<author><name>{escape(a.author)}</name></author><category term="{a.section}"/>'
        f'<summary>{escape(a.summary)}</summary><content type="html">{escape(f"<p>{escape(a.text)}</p>")}</content>'
        "</entry>\n"
        for a in channel.articles
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>urn:sandbox:feed:{channel.name}</id><title>{escape(channel.title)}</title>"
        f'<link href="{channel.base}/"/><updated>{_iso(newest)}</updated>\n{entries}</feed>\n'
    ).encode()


def json_feed(channel: Channel) -> bytes:
    """JSON Feed 1.1."""
    items = [
        {
            "id": channel.guid(a),
            "url": channel.link(a),
            "title": a.title,
            "summary": a.summary,
            "content_html": f"<p>{escape(a.text)}</p>",
            "date_published": _iso(a.published),
            "date_modified": _iso(a.updated),
            "authors": [{"name": a.author}],
            "tags": [a.section],
        }
        for a in channel.articles
    ]
    head = {"version": "https://jsonfeed.org/version/1.1", "title": channel.title, "home_page_url": f"{channel.base}/"}
    return json.dumps(head | {"language": "en", "items": items}, ensure_ascii=False, indent=1).encode()


FORMATS: dict[str, tuple[Callable[[Channel], bytes], str]] = {
    "xml": (rss2, "application/rss+xml; charset=utf-8"),
    "rss091": (rss091, "application/rss+xml; charset=utf-8"),
    "rdf": (rss1, "application/rdf+xml; charset=utf-8"),
    "atom": (atom, "application/atom+xml; charset=utf-8"),
    "json": (json_feed, "application/feed+json; charset=utf-8"),
}
"""How each ending of an address is written, and its kind."""


def _iso(instant: float) -> str:
    return datetime.fromtimestamp(int(instant), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

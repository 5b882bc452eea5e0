"""Feeds put together by chance, of pieces that publishers use and of some that they should not."""

from __future__ import annotations

from hypothesis import strategies as st

NAMESPACES = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "media": "http://search.yahoo.com/mrss/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "atom": "http://www.w3.org/2005/Atom",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "thr": "http://purl.org/syndication/thread/1.0",
    "house": "https://house.example/ns",
}
USUAL = (
    "title", "link", "guid", "pubDate", "category", "description", "content:encoded", "dc:creator", "updated",
    "published", "summary", "content", "author", "id", "enclosure", "media:content", "media:title",
    "media:description", "media:thumbnail", "source", "dc:date", "dc:subject", "atom:link",
)  # fmt: skip
OTHERS = (
    "dc:title", "issued", "modified", "dcterms:modified", "created", "keywords", "managingEditor",
    "itunes:author", "dc:description", "fullitem", "itunes:summary", "feedburner:origLink", "language", "ttl",
    "sy:updatePeriod", "sy:updateFrequency", "image", "textInput", "name", "email", "url", "contributor",
    "itunes:keywords", "itunes:category", "media:category", "media:keywords", "itunes:owner", "rights",
    "generator", "subtitle", "itunes:subtitle", "itunes:image", "media:group", "media:credit", "webMaster",
    "dc:publisher", "dc:contributor", "comments", "house:title", "house:author", "house:description", "thumb",
    "atom:title", "atom:author", "atom:summary", "atom:id", "authors", "links", "tags", "date", "body",
    "abstract", "info", "skipDays", "items", "logo", "thr:total", "owner", "creator",
)  # fmt: skip
OF_A_CHANNEL = (
    "title", "link", "description", "language", "ttl", "sy:updatePeriod", "image", "atom:link", "pubDate",
    "generator", "id", "author",
)  # fmt: skip
NESTED = (
    "name", "email", "uri", "title", "link", "url", "media:title", "media:description", "media:thumbnail",
    "house:x", "day", "itunes:name", "b",
)  # fmt: skip
NESTING = {"author", "atom:author", "media:group", "media:content", "contributor", "image", "textInput", "itunes:owner"}
TEXTS = (
    "", "a", "A title", "https://n.example/1", "https://n.example/1?a=1&amp;b=2", "#part", "/path",
    "https:////n.example/y", "  spaced  ", "&lt;p&gt;x&lt;/p&gt;", "<![CDATA[<b>bold</b> & so]]>", "caf\xe9",
    "caf\xc3\xa9", "\u2019quote", "\x85x\x93", "x<!--c-->y", "joe@n.example (Joe)", "Joe <![CDATA[<joe@n.example>]]>",
    "Sat, 14 Nov 2026 09:00:00 GMT", "2026-11-14T09:00:00Z", "a,b , c", "&amp;amp; &amp;lt;", "60", "daily",
    "text &amp;copy; it", "a <?pi x?> b", "\u65e5\u672c", "x\ny\tz", "&#x85;&#160;", "  ", "z" * 501, "a " * 120,
)  # fmt: skip
ATTRIBUTES = (
    ' type="html"', ' type="text"', ' type="xhtml"', ' type="text/plain"', ' type="application/xml"',
    ' isPermaLink="false"', ' isPermaLink="true"', ' href="https://n.example/2"', ' href=""',
    ' rel="self" href="https://n.example/s"', ' rel="Related" href="/r"', ' rel="enclosure" href="/e"',
    ' rel="alternate" type="application/json" href="/j"', ' term="t" label="L"', ' term="t2" scheme="s"', ' domain="d"',
    ' term="a" scheme="s"', ' scheme="s"',
    ' url="https://n.example/u"', ' xml:lang="de_AT"', ' lang="fr"', ' xml:lang=""', ' xml:base="https://b.example/"',
    ' house:x="1"', ' text="T"', ' label="only"', ' mode="base64"', ' src="x"', ' rel="" href="/z"',
    ' house:href="/h"', ' atom:href="/h"', ' house:term="h"', ' dc:rel="self" href="/h"',
)  # fmt: skip


def _rarely(values, *, one_in):
    return st.integers(1, one_in).flatmap(lambda n: st.sampled_from(values) if n == 1 else st.just(""))


@st.composite
def elements(draw, names, *, deeper=True):
    name, attributes, text = draw(names), draw(_rarely(ATTRIBUTES, one_in=12)), draw(st.sampled_from(TEXTS))
    if deeper and draw(st.integers(1, 3 if name in NESTING else 60)) == 1:
        inside = draw(st.lists(elements(st.sampled_from(NESTED), deeper=False), min_size=1, max_size=3))
        text = draw(st.sampled_from(["", "\n", "x"])) + "".join(inside)
    return f"<{name}{attributes}>{text}</{name}>"


def _some(names, *, most):
    return st.lists(elements(names), max_size=most).map("\n".join)


_OF_AN_ENTRY = st.integers(1, 8).flatmap(lambda n: st.sampled_from(OTHERS if n == 1 else USUAL))
_ABOUT = _rarely([' rdf:about="https://n.example/about"', ' xml:lang="es"', ' href="/q"'], one_in=8)
_ITEMS = st.lists(st.tuples(_ABOUT, _some(_OF_AN_ENTRY, most=9)), max_size=3)
_CHANNEL = st.integers(1, 20).flatmap(lambda n: _some(st.sampled_from(OTHERS if n == 1 else OF_A_CHANNEL), most=6))
_LANGUAGE = _rarely([' xml:lang="en_US"', ' lang="it"', ' xml:base="https://b.example/"'], one_in=8)
_DECLARED = st.permutations(list(NAMESPACES)).map(
    lambda prefixes: "".join(f' xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in prefixes)
)


@st.composite
def feeds(draw):
    """A well-formed document of one of the formats that are about."""
    form = draw(st.sampled_from(["rss", "atom", "rdf"]))
    head = draw(_LANGUAGE) + draw(_DECLARED)
    channel = draw(_CHANNEL)
    tag = "entry" if form == "atom" else "item"
    items = "".join(f"<{tag}{about}>{inside}</{tag}>" for about, inside in draw(_ITEMS))
    if form == "atom":
        return f'<feed xmlns="{NAMESPACES["atom"]}"{head}>{channel}{items}</feed>'
    if form == "rdf":
        return f'<rdf:RDF xmlns="http://purl.org/rss/1.0/"{head}><channel>{channel}</channel>{items}</rdf:RDF>'
    version = draw(st.sampled_from(["2.0", "0.91", "0.92", "1"]))
    return f'<rss version="{version}"{head}><channel>{channel}{items}</channel></rss>'

"""What the elements of a feed are called, and which of them say nothing that is read.

Names are those of feedparser, `dc_creator` for `<dc:creator>`, whichever prefix the document gives the namespace. An
element is known by its namespace; a document whose prefixes would mislead feedparser is left to it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from haulwright.extras import needs_extra

with needs_extra("http", "Reading a feed"):
    from feedparser.api import StrictFeedParser  # type: ignore[import-untyped]  # it ships none
    from feedparser.util import FeedParserDict  # type: ignore[import-untyped]

from haulwright.sources.feeds.xml_walk import ENTRIES, PERSONS

ATOM: Final = "http://www.w3.org/2005/Atom"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
NOTHING: Final = "nothing"
"""The name of every element that is not read and changes nothing of what is."""
SOMEBODY: Final = "somebody"
"""The same of a person: too long a name is an attack."""
STRANGE: Final = "strange"
"""The name of every element that is left to feedparser."""

_STANDARD: Final[dict[str, str]] = {uri.lower(): name for uri, name in StrictFeedParser.namespaces.items()}
_VERSIONS: Final = {ATOM.lower(), "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"}
"""Namespaces that feedparser takes for the version of a feed, the first that it meets."""
_HANDLERS: Final = frozenset(
    name.partition("_")[2]
    for name in (name[1:] for name in dir(StrictFeedParser))
    if name.startswith(("start_", "end_"))
)
_MISLEADING: Final = frozenset(
    {"rdf", "sy", "feedburner", "xml", "xhtml", "title", "summary", "subtitle"}
    | {prefix for name in _HANDLERS for prefix, mark, _ in [name.partition("_")] if mark}
)
"""No prefix of another namespace: its elements would be taken for known ones."""
_READ: Final = frozenset(
    {"title", "link", "links", "id", "published", "updated", "created", "tags", "author", "authors", "source",
     "summary", "content", "language", "ttl", "sy_updateperiod", "sy_updatefrequency", "feedburner_origlink"}
)  # fmt: skip
_SAME: Final = {
    "dc_title": "title", "id": "guid", "issued": "published", "pubdate": "published", "dcterms_issued": "published",
    "modified": "updated", "lastbuilddate": "updated", "dc_date": "updated", "dcterms_modified": "updated",
    "dcterms_created": "created", "keywords": "category", "dc_subject": "category", "managingeditor": "author",
    "dc_author": "author", "dc_creator": "author", "itunes_author": "author", "dc_description": "description",
    "itunes_summary": "summary", "content_encoded": "fullitem", "dc_language": "language",
    "entry": "item",
}  # fmt: skip
"""Elements that are one to feedparser."""
_ALIKE: Final = frozenset(_SAME.values()) | {
    "link", "guid", "source", "content", "ttl", "sy_updateperiod", "sy_updatefrequency", "feedburner_origlink",
    "image", "textinput", "name", "email", "url", "uri", "homepage", "contributor", "media_title", "media_description",
    "itunes_keywords", "itunes_category", "media_category", "media_keywords", "itunes_owner", "itunes_name",
    "itunes_email", "width", "height",
}  # fmt: skip
"""Elements that are read, or whose place decides whether they say nothing."""
_SILENT: Final = frozenset(
    {"enclosure", "rights", "copyright", "dc_rights", "generator", "admin_generatoragent", "admin_errorreportsto",
     "cloud", "subtitle", "tagline", "itunes_subtitle", "itunes_image", "itunes_block", "itunes_explicit",
     "media_group", "media_rating", "media_credit", "media_restriction", "media_license", "media_content",
     "media_thumbnail", "media_player", "expirationdate", "dc_contributor", "webmaster", "dc_publisher"}
)  # fmt: skip
"""Elements that feedparser knows and we do not read."""
MOST_NAMESPACES: Final = 100
LONGEST_TAG_CHARS: Final = 200
_DECLARATION: Final = re.compile(
    r"""xmlns(?::([^\s=:"'<>/]{1,100}))?[ \t\r\n]{0,20}=[ \t\r\n]{0,20}(?:"([^"]{0,500})"|'([^']{0,500})')"""
)


def name_of(tag: str) -> str:
    """Return the name of an element by its tag. Names that nobody would give are not kept in mind."""
    return _name_of(tag) if len(tag) <= LONGEST_TAG_CHARS else STRANGE


@lru_cache(maxsize=4_096)
def _name_of(tag: str) -> str:
    namespace, _, local = tag.rpartition("}")
    local = local.lower()
    prefix = _STANDARD.get(namespace[1:].lower())
    if prefix is None:  # declared under a prefix that stands for nothing: see `first_version`
        return STRANGE if local in ENTRIES else SOMEBODY if local in PERSONS else NOTHING
    name = f"{prefix}_{local}" if prefix else local
    name = _SAME.get(name, name)
    if name in _ALIKE:
        return name
    key = FeedParserDict.keymap.get(name, name)
    if name not in _SILENT and (name in _HANDLERS or isinstance(key, list) or key in _READ or local in ENTRIES):
        return STRANGE
    return SOMEBODY if local in PERSONS else NOTHING


def first_version(document: str) -> str | None:
    """Return the first namespace that is the version of a format, "" for none; None if prefixes would mislead."""
    first_tag = document.find(">") + 1
    if not document.count("xmlns", first_tag):
        markup = document[:first_tag]
    elif "<!--" in (markup := _without_cdata(document)):
        return None
    declarations = list(_DECLARATION.finditer(markup))
    if len(declarations) != markup.count("xmlns"):
        return None
    version = ""
    uris: dict[str, str] = {}
    for match in declarations:
        prefix, uri = (match[1] or "").lower(), match[2] or match[3] or ""
        if uris.setdefault(prefix, uri) != uri or len(uris) > MOST_NAMESPACES or _misleads(prefix, uri):
            return None
        if not version and uri.lower() in _VERSIONS:
            version = uri.lower()
    return version


def _without_cdata(document: str) -> str:
    """Return a document without the texts that are marked as such, in linear time whatever stands there."""
    pieces, end = [], 0
    while (first := document.find("<![CDATA[", end)) >= 0 and (last := document.find("]]>", first)) >= 0:
        pieces.append(document[end:first])
        end = last + 3
    return "".join([*pieces, document[end:]])


def _misleads(prefix: str, uri: str) -> bool:
    """Whether feedparser would take elements of a namespace for those of another."""
    standard = _STANDARD.get(uri.lower())
    if standard is None:
        return not prefix or prefix in _MISLEADING or "&" in uri or "backend.userland.com/rss" in uri.lower()
    return bool(prefix) and prefix in _MISLEADING and prefix != standard

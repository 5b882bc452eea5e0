"""Canonical URLs: one address for one page, so that the same article or offer is met only once."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urljoin, urlsplit

from haulwright.extras import needs_extra

with needs_extra("http", "Comparing addresses"):
    from w3lib.url import canonicalize_url

from haulwright.errors import InvalidValue
from haulwright.sources.tools.hosts import with_ascii_host

CANON_VERSION: Final = 1
"""Kept beside every key made from a canonical URL. It grows when a rule below changes what a URL becomes."""

LONGEST_URL_CHARS: Final = 4_096
LARGEST_PORT: Final = 65_535
SHOWN_CHARS: Final = 120
HINT: Final = "Give an absolute address such as https://shop.example/item?id=7."

TRACKERS: Final = frozenset({
    "_ga", "_gl", "_hsenc", "_hsmi", "at_campaign", "at_medium", "dclid", "fbclid", "gbraid", "gclid", "gclsrc", "igsh",
    "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "oly_anon_id", "oly_enc_id", "ref_src", "ref_url",
    "ttclid", "twclid", "vero_id", "wbraid", "wickedid", "yclid", "ysclid",
})  # fmt: skip
"""Parameters that say who sent the visitor and never what is shown. An unknown parameter always stays."""
TRACKER_FAMILIES: Final = ("utm_", "pk_", "mtm_", "hsa_")

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_WHITE: Final = re.compile(r"[\x00-\x20\x7f]+")
_CONTROLS: Final = "".join(map(chr, range(0x21)))  # what joining leaves out at the ends
_AUTHORITY: Final = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]")
_CREDENTIALS: Final = re.compile(r"//[^/?#]*@")
_PORT: Final = re.compile(r":[0-9]{0,5}")
# What most feeds contain: nothing to decode, no dot segments, no port. Such a URL needs only its query sorted.
_PLAIN: Final = re.compile(
    r"(https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+)"
    r"((?:/(?!\.)[A-Za-z0-9._~@:-]*)*)"
    r"(?:\?([A-Za-z0-9._~-]+=[A-Za-z0-9._~-]*(?:&[A-Za-z0-9._~-]+=[A-Za-z0-9._~-]*)*))?"
    r"(?:#[A-Za-z0-9._~/-]*)?"
)


def canonical_url(url: str, *, keep: Collection[str] = (), drop: Collection[str] = ()) -> str:
    """Return the one form of an http address: the same for spellings that lead to the same page, refused if it is none.

    `keep` names parameters that mean something here although they are usually trackers; `drop` names more that mean
    nothing here. Credentials and fragments never become part of the form.
    """
    if not isinstance(url, str):
        raise _refusal(url, "is no text")
    if len(url) > LONGEST_URL_CHARS:
        raise _refusal(url, f"is longer than {LONGEST_URL_CHARS} characters")
    if plain := _PLAIN.fullmatch(url):
        origin, path, query = plain.groups()
        return origin + (path or "/") + (_meaningful(query, keep, drop) if query else "")
    return _parsed(url, keep, drop)


def absolute_url(link: str, base: str | None) -> str | None:
    """Return where a link of a page leads, None unless that is an http address. Without a word it leads nowhere."""
    if _PLAIN.fullmatch(link):
        return link
    words = _WHITE.sub("", link) if "\n" in link or "\t" in link else link.strip().strip(_CONTROLS)
    if not words:
        return None  # joined, it would be the address of the page itself
    try:
        absolute = urljoin(base or "", words)
        parts = urlsplit(absolute)
    except ValueError:
        return None
    return absolute if parts.scheme in {"http", "https"} and parts.netloc else None


def _parsed(url: str, keep: Collection[str], drop: Collection[str]) -> str:
    """Return the canonical form of an address in any spelling, by way of w3lib."""
    text = with_ascii_host(url.strip())
    if not _AUTHORITY.match(text):
        raise _refusal(url, "is no absolute http or https address")
    try:
        place = urlsplit(text).netloc.rpartition("@")[2]
        scheme, authority, path, query, _ = urlsplit(canonicalize_url(text))
    except (ValueError, UnicodeError) as problem:
        raise _refusal(url, "cannot be read as an address") from problem
    if not place.isascii():  # w3lib would still find a name for it, by the older rules
        raise _refusal(url, "has no host that a name can lead to")
    return f"{scheme}://{_host(authority, scheme, url)}{path or '/'}{_meaningful(query, keep, drop)}"


def _host(authority: str, scheme: str, url: str) -> str:
    """Return the host in lower case with its port, if that is not the usual one; credentials are left out."""
    place = authority.rpartition("@")[2].lower()
    host = _HOST.match(place)
    port = _PORT.fullmatch(place, host.end()) if host else None
    if host is None or (port is None and host.end() != len(place)):
        raise _refusal(url, "has no host that a name can lead to")
    number = int(port[0][1:]) if port and port[0] != ":" else None
    if number is not None and not 1 <= number <= LARGEST_PORT:
        raise _refusal(url, f"has no port from 1 to {LARGEST_PORT}")
    shown = "" if number is None else f":{number}"
    return host[0].removesuffix(".") + (shown if shown != _DEFAULT_PORTS[scheme] else "")


def _meaningful(query: str, keep: Collection[str], drop: Collection[str]) -> str:
    """Return the sorted query without its trackers, with its question mark; nothing if nothing is left."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    left = [pair for pair in pairs if pair[0] in keep or not (_is_tracker(pair[0]) or pair[0] in drop)]
    left.sort()
    return "?" + "&".join(map("".join, left)) if query and left else ""


def _is_tracker(name: str) -> bool:
    """Tell whether a parameter only says who sent the visitor."""
    return name.lower() in TRACKERS or name.lower().startswith(TRACKER_FAMILIES)


def _refusal(url: object, why: str) -> InvalidValue:
    """Return the error for what is no address, showing no more of it than a line and no credentials."""
    shown = _CREDENTIALS.sub("//…@", url) if isinstance(url, str) else url
    if isinstance(shown, str) and len(shown) > SHOWN_CHARS:
        shown = f"{shown[:SHOWN_CHARS]}…"
    return InvalidValue("url", shown, why, hint=HINT)

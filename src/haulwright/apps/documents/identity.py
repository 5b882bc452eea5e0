"""By what an artefact is known: its work, its own id, and an address that does not change with every signature."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from haulwright.errors import InvalidValue
from haulwright.sources.http import secret
from haulwright.sources.tools.urls import canonical_url

SHOWN_CHARS: Final = 200
_SIGNED_BY: Final[dict[str, frozenset[str]]] = {
    "x-amz-signature": frozenset({"x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires",
                                  "x-amz-security-token", "x-amz-signedheaders"}),
    "x-goog-signature": frozenset({"x-goog-algorithm", "x-goog-credential", "x-goog-date", "x-goog-expires",
                                   "x-goog-signedheaders"}),
    "signature": frozenset({"expires", "key-pair-id", "policy", "awsaccesskeyid", "googleaccessid"}),
    "sig": frozenset({"se", "sp", "sr", "st", "sv", "spr", "sip", "skoid", "sktid", "skt", "ske", "sks", "skv"}),
}  # fmt: skip
"""The parameter that signs an address for a while, and those that come with it."""


def identity_url(url: str) -> str:
    """The one form of an address, the same whoever signed it and for how long; refused where it is none."""
    try:
        parts = urlsplit(url.strip())
    except ValueError as error:
        raise InvalidValue("url", shown_url(url)[:SHOWN_CHARS], f"is no address: {error}") from None
    if "@" in parts.netloc:
        shown = f"{parts.scheme}://…@{parts.netloc.rpartition('@')[2]}{parts.path}"
        raise InvalidValue("url", shown, "names a user", hint="Credentials do not belong into a manifest.")
    try:
        return canonical_url(url, drop=_signature(parts.query))
    except InvalidValue as refused:
        raise InvalidValue("url", shown_url(str(refused.value)), refused.why, hint=refused.hint) from None


def shown_url(url: str) -> str:
    """An address as people may see it, with its query: parameters that are secret by their names are masked.

    It is for eyes alone. `key=` may as well be the name of a document, so no document is known by this form.
    """
    return secret.shown_url(url)


def bare_url(url: str) -> str:
    """An address without query and credentials, the same on every machine."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def host_of(url: str) -> str:
    """The host of an address, with its port where it is named."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def _signature(query: str) -> frozenset[str]:
    """The parameters of a query that only sign it."""
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    signing = frozenset[str]().union(
        *(others | {mark} for mark, others in _SIGNED_BY.items() if mark in {name.lower() for name in names})
    )
    return frozenset(name for name in names if name.lower() in signing)

"""The one choke point for secrets: whatever is stored, logged or shown as text passes here first."""

from __future__ import annotations

import re

MASK = "***"
SHORTEST_SECRET = 6
"""Shorter values are not masked wherever they occur: they would hide ordinary words."""

_QUOTE = r"\\*[\"']"  # escaped where JSON stands inside a text
_IS = rf"(?:{_QUOTE})?\s*[=:]\s*"
_WORDS = r"(?:token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key|signature|credential)[\w.-]{0,40}"
# Every part is bounded or starts with something rare, so that a long text takes no longer than its length.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://)[^/\s'\"]{1,1000}@", re.IGNORECASE), rf"\1{MASK}@"),
    # A header of several parts is a secret up to its end.
    (re.compile(rf"((?:authorization|cookie){_IS}(?:{_QUOTE})?)[^\r\n\"'\\]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b(bearer|basic)\s+[\w~+/.=-]{4,}", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(rf"({_WORDS}{_IS})({_QUOTE})[^\r\n]{{0,2000}}?\2", re.IGNORECASE), rf"\1\2{MASK}\2"),
    (re.compile(rf"({_WORDS}{_IS})[^\s&\"',;}}\])\\]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*"), MASK),
)
_known: set[str] = set()


def remember(secret: str | None) -> None:
    """Mask this value from now on, wherever it turns up."""
    if secret and len(secret) >= SHORTEST_SECRET:
        _known.add(secret)


def redact(text: str) -> str:
    """The text without secrets: known values, credentials in addresses, tokens in headers and parameters."""
    for secret in _known:
        text = text.replace(secret, MASK)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text

"""Freshness by RFC 9111, for a private cache: pure functions of requests, answers and times.

Names of headers are in lower case; several fields of one name are joined with commas, as the RFC allows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from haulwright.sources.http.cache_store import CacheEntry
from haulwright.sources.http.rate_limit_headers import http_date

Headers = Mapping[str, str]

GUESS_FRACTION: Final = 0.1
LONGEST_GUESS_SECONDS: Final = 3_600.0
"""A page that says nothing is believed for a tenth of its age, and never longer than this."""
LONGEST_FRESH_SECONDS: Final = 365 * 86_400.0
KEPT_FOR_VALIDATION_SECONDS: Final = 30 * 86_400.0
"""How long an answer is kept after it went stale, for the sake of its validators."""

CACHEABLE_METHODS: Final = frozenset({"GET", "HEAD"})
CACHEABLE_STATUSES: Final = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
CONDITIONS: Final = frozenset({
    "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range",
})  # fmt: skip
"""A request that brings one of these is the caller's own affair: it is passed on and its answer is not kept."""
_NOT_UPDATED: Final = frozenset(
    {"content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"}
)
_NOT_KEPT: Final = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "set-cookie", "set-cookie2", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
_DIRECTIVE: Final = re.compile(r'\s*([\w-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,"]*)))?\s*(?:,|$)')
_DIGITS: Final = re.compile(r"[0-9]{1,40}")


def directives(headers: Headers) -> dict[str, str]:
    """Return the directives of Cache-Control, the first of each name."""
    parsed: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(headers.get("cache-control", "")):
        parsed.setdefault(name.lower(), quoted or plain)
    if not parsed and "no-cache" in headers.get("pragma", "").lower():
        parsed["no-cache"] = ""
    return parsed


def may_look_up(method: str, request: Headers) -> bool:
    """Whether a request may be answered from the cache at all."""
    return method in CACHEABLE_METHODS and not CONDITIONS & request.keys() and "no-store" not in directives(request)


def may_store(method: str, request: Headers, status: int, answer: Headers) -> bool:
    """Whether an answer may be kept, and is worth it: it is fresh for a while, or can be asked about again."""
    of_answer = directives(answer)
    if not may_look_up(method, request) or status not in CACHEABLE_STATUSES or "no-store" in of_answer:
        return False
    if "*" in vary_names(answer) or "content-range" in answer:
        return False
    is_of_use_stale = bool({"stale-if-error", "stale-while-revalidate"} & of_answer.keys())
    return lifetime(answer) > 0 or bool(validators(answer)) or is_of_use_stale


def vary_names(answer: Headers) -> tuple[str, ...]:
    """Return the request headers that an answer depends on, sorted."""
    return tuple(sorted({name.strip().lower() for name in answer.get("vary", "").split(",") if name.strip()}))


def lifetime(answer: Headers) -> float:
    """Return for how many seconds after it was made an answer is fresh: as it says, or as its age lets one guess."""
    of_answer = directives(answer)
    if "max-age" in of_answer:
        return _seconds(of_answer["max-age"]) or 0.0
    sent_at = http_date(answer.get("date"))
    if "expires" in answer:
        expires = http_date(answer["expires"])
        return 0.0 if expires is None or sent_at is None else min(max(0.0, expires - sent_at), LONGEST_FRESH_SECONDS)
    modified = http_date(answer.get("last-modified"))
    if sent_at is None or modified is None or "no-cache" in of_answer:
        return 0.0
    return min(max(0.0, sent_at - modified) * GUESS_FRACTION, LONGEST_GUESS_SECONDS)


def age(stored: CacheEntry, now: float) -> float:
    """Return how old an answer is, by its own Age and Date and by the time it spent on the way and here."""
    sent_at = http_date(stored.headers.get("date"))
    apparent = max(0.0, stored.answered_at - sent_at) if sent_at is not None else 0.0
    # Where several caches on the way have counted, the first value is of the one that is nearest to us.
    counted = _seconds(stored.headers.get("age", "").partition(",")[0]) or 0.0
    on_arrival = counted + max(0.0, stored.answered_at - stored.requested_at)
    return max(apparent, on_arrival) + max(0.0, now - stored.answered_at)


def is_fresh(stored: CacheEntry, request: Headers, now: float) -> bool:
    """Whether an answer may be served without asking, as both sides see it."""
    of_request, of_answer = directives(request), directives(stored.headers)
    if "no-cache" in of_request or "no-cache" in of_answer:
        return False
    old, fresh_for = age(stored, now), lifetime(stored.headers)
    if "max-age" in of_request and old > (_seconds(of_request["max-age"]) or 0.0):
        return False
    left = fresh_for - old - (_seconds(of_request.get("min-fresh", "")) or 0.0)
    if left > 0:
        return True
    if "max-stale" not in of_request or "must-revalidate" in of_answer:
        return False
    tolerated = _seconds(of_request["max-stale"]) if of_request["max-stale"] else LONGEST_FRESH_SECONDS
    return -left <= (tolerated or 0.0)


def may_serve_stale(stored: CacheEntry, request: Headers, now: float) -> bool:
    """Whether a stale answer may stand in for a server that fails (RFC 5861)."""
    of_request, of_answer = directives(request), directives(stored.headers)
    if {"must-revalidate", "no-cache"} & of_answer.keys() or "no-cache" in of_request:
        return False
    allowed = [_seconds(who["stale-if-error"]) or 0.0 for who in (of_request, of_answer) if "stale-if-error" in who]
    return bool(allowed) and age(stored, now) - lifetime(stored.headers) <= max(allowed)


def may_renew_behind(stored: CacheEntry, request: Headers, now: float) -> bool:
    """Whether a stale answer may be served while it is asked about behind its caller's back (RFC 5861)."""
    of_request, of_answer = directives(request), directives(stored.headers)
    if {"must-revalidate", "no-cache"} & of_answer.keys() or {"no-cache", "max-age", "min-fresh"} & of_request.keys():
        return False
    window = _seconds(of_answer.get("stale-while-revalidate", ""))
    return window is not None and age(stored, now) - lifetime(stored.headers) <= window


def validators(answer: Headers) -> dict[str, str]:
    """Return the conditions with which one asks whether an answer is still the same."""
    headers: dict[str, str] = {}
    if etag := answer.get("etag"):
        headers["if-none-match"] = etag
    if modified := answer.get("last-modified"):
        headers["if-modified-since"] = modified
    return headers


def kept_headers(answer: Headers) -> dict[str, str]:
    """Return the headers that are kept with an answer: none of the connection's, no cookies."""
    named = {name.strip().lower() for name in answer.get("connection", "").split(",")}
    return {name: value for name, value in answer.items() if name not in _NOT_KEPT and name not in named}


def dated(stored: CacheEntry) -> CacheEntry:
    """Return the answer with the times until which it is fresh and worth keeping."""
    fresh_until = stored.answered_at + max(0.0, lifetime(stored.headers) - age(stored, stored.answered_at))
    return replace(stored, fresh_until=fresh_until, keep_until=fresh_until + KEPT_FOR_VALIDATION_SECONDS)


def refreshed(stored: CacheEntry, answer: Headers, *, requested_at: float, answered_at: float) -> CacheEntry:
    """Return a kept answer as a 304 renews it: its headers updated, its body untouched."""
    news = {name: value for name, value in kept_headers(answer).items() if name not in _NOT_UPDATED}
    headers = {name: value for name, value in stored.headers.items() if name != "age"} | news
    return dated(replace(stored, headers=headers, requested_at=requested_at, answered_at=answered_at))


def matches(stored: CacheEntry, answer: Headers) -> bool:
    """Whether a 304 is about the answer that is kept."""
    etag = answer.get("etag")
    return etag is None or "etag" not in stored.headers or _opaque(etag) == _opaque(stored.headers["etag"])


def _opaque(etag: str) -> str:
    """An entity tag for the weak comparison, which is the one that If-None-Match asks for."""
    return etag.strip().removeprefix("W/")


def _seconds(text: str) -> float | None:
    """The seconds in a directive, None for anything else."""
    text = text.strip()
    return min(float(text), LONGEST_FRESH_SECONDS) if _DIGITS.fullmatch(text) else None

from __future__ import annotations

from email.utils import formatdate

import pytest

from haulwright.sources.http import freshness
from haulwright.sources.http.cache_store import CacheEntry

MADE = 1_790_856_000.0


def stored(**headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return CacheEntry(200, {"date": formatdate(MADE, usegmt=True)} | named, b"", "", MADE, MADE, 0, 0)


def at(seconds):
    return formatdate(MADE + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache_control": "max-age=60"}, 60),
        ({"cache_control": 'private, max-age="60"'}, 60),
        ({"cache_control": "max-age=60, max-age=600"}, 60),
        ({"cache_control": "s-maxage=600, max-age=60"}, 60),
        ({"cache_control": "max-age=60", "expires": at(600)}, 60),
        ({"cache_control": "max-age=-1"}, 0),
        ({"cache_control": "max-age=soon"}, 0),
        ({"cache_control": "max-age=" + "9" * 30}, freshness.LONGEST_FRESH_SECONDS),
        ({"expires": at(600)}, 600),
        ({"expires": "0"}, 0),
        ({"expires": at(-5)}, 0),
        ({"last_modified": at(-1000)}, 100),
        ({"last_modified": at(-(10**7))}, 3600),
        ({"last_modified": at(50)}, 0),
        ({}, 0),
    ],
)
def test_an_answer_is_fresh_as_long_as_it_says_or_lets_one_guess(headers, seconds):
    assert freshness.lifetime(stored(**headers).headers) == seconds


def test_age_counts_what_happened_before_it_was_kept():
    assert freshness.age(stored(), MADE + 5) == 5
    assert freshness.age(stored(age="100"), MADE + 5) == 105
    assert freshness.age(stored(age="7200, 0"), MADE + 5) == 7_205
    assert freshness.age(stored(age="soon, 100"), MADE + 5) == 5
    assert freshness.age(stored(date=at(-50)), MADE + 5) == 55


@pytest.mark.parametrize(
    ("answer", "request_says", "after", "fresh"),
    [
        ("max-age=60", "", 59, True),
        ("max-age=60", "", 60, False),
        ("max-age=60, no-cache", "", 1, False),
        ("max-age=60", "no-cache", 1, False),
        ("max-age=60", "max-age=10", 9, True),
        ("max-age=60", "max-age=10", 11, False),
        ("max-age=60", "min-fresh=20", 45, False),
        ("max-age=60", "max-stale=20", 75, True),
        ("max-age=60", "max-stale", 9999, True),
        ("max-age=60", "max-stale=20", 85, False),
        ("max-age=60, must-revalidate", "max-stale=20", 75, False),
    ],
)
def test_both_sides_say_what_is_fresh_enough(answer, request_says, after, fresh):
    request = {"cache-control": request_says} if request_says else {}

    assert freshness.is_fresh(stored(cache_control=answer), request, MADE + after) is fresh


@pytest.mark.parametrize(
    ("answer", "after", "served"),
    [
        ("max-age=60, stale-if-error=300", 350, True),
        ("max-age=60, stale-if-error=300", 361, False),
        ("max-age=60", 61, False),
        ("max-age=60, stale-if-error=300, must-revalidate", 61, False),
        ("max-age=60, stale-if-error=300, no-cache", 61, False),
    ],
)
def test_a_stale_answer_stands_in_for_an_error_only_where_it_says_so(answer, after, served):
    assert freshness.may_serve_stale(stored(cache_control=answer), {}, MADE + after) is served


@pytest.mark.parametrize(
    ("method", "request_headers", "status", "answer", "kept"),
    [
        ("GET", {}, 200, {"cache-control": "max-age=60"}, True),
        ("GET", {}, 200, {"etag": '"1"'}, True),
        ("GET", {}, 200, {"cache-control": "private, max-age=60"}, True),
        ("GET", {}, 404, {"cache-control": "max-age=60"}, True),
        ("GET", {}, 200, {}, False),
        ("POST", {}, 200, {"cache-control": "max-age=60"}, False),
        ("GET", {}, 206, {"cache-control": "max-age=60"}, False),
        ("GET", {}, 302, {"cache-control": "max-age=60"}, False),
        ("GET", {}, 500, {"cache-control": "max-age=60"}, False),
        ("GET", {}, 200, {"cache-control": "No-Store, max-age=60"}, False),
        ("GET", {"cache-control": "no-store"}, 200, {"cache-control": "max-age=60"}, False),
        ("GET", {"range": "bytes=0-"}, 200, {"cache-control": "max-age=60"}, False),
        ("GET", {"if-none-match": '"1"'}, 200, {"cache-control": "max-age=60"}, False),
        ("GET", {}, 200, {"cache-control": "max-age=60", "vary": "Accept, *"}, False),
    ],
)
def test_only_what_may_be_kept_is_kept(method, request_headers, status, answer, kept):
    assert freshness.may_store(method, request_headers, status, answer) is kept


def test_a_304_renews_the_headers_and_leaves_what_describes_the_body():
    old = stored(cache_control="max-age=60", content_type="text/html", age="30", etag='"1"')
    news = {"cache-control": "max-age=99", "content-type": "text/plain", "content-length": "0", "set-cookie": "a=b"}

    renewed = freshness.refreshed(old, news, requested_at=MADE + 100, answered_at=MADE + 100)

    assert renewed.headers["cache-control"] == "max-age=99"
    assert renewed.headers["content-type"] == "text/html"
    assert not {"age", "content-length", "set-cookie"} & renewed.headers.keys()


def test_a_304_about_another_version_is_not_believed():
    assert freshness.matches(stored(etag='W/"1"'), {"etag": '"1"'})
    assert not freshness.matches(stored(etag='"1"'), {"etag": '"2"'})

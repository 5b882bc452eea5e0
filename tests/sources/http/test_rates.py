from __future__ import annotations

import pytest

from haulwright.sources.http.rate_limit_headers import http_date, park_seconds

NOW = 784_111_747.0
"""Sunday, 6 November 1994, 08:49:07 UTC: thirty seconds before the dates below."""


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("30", 30), ("  30 ", 30), ("1.5", 1.5), ("3601", 3_600), ("9" * 15, 3_600), ("9" * 20, 3_600),
        ("120, 120", 120), ("30, 120", 120), ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:47 GMT", 40),
        ("10, Sun, 06 Nov 1994 08:49:37 GMT", 30), ("0, 5", 5), ("soon, 5", 5),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 30), ("Sunday, 06-Nov-94 08:49:37 GMT", 30), ("Sun Nov  6 08:49:37 1994", 30),
        ("0", None), ("-5", None), ("Sun, 06 Nov 1994 08:49:00 GMT", None), ("soon", None), ("", None), ("1e9", None),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None), ("9" * 400, None), ("Infinity", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600),
    ],
)  # fmt: skip
@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_after_is_read_in_all_its_forms(status, text, wait):
    assert park_seconds(status, {"retry-after": text}, NOW) == wait


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "45"}, 45),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790856060"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790856060000"}, 60),
        ({"x-rate-limit-remaining": "0", "x-rate-limit-reset": "45"}, 45),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "45"}, 45),
        ({"ratelimit": "limit=100, remaining=0, reset=45"}, 45),
        ({"ratelimit": '"default";r=0;t=45'}, 45),
        ({"ratelimit": '"burst";r=0;t=5, "daily";r=0;t=45, "hourly";r=7;t=300'}, 45),
        ({"ratelimit": '"default";r=0', "ratelimit-policy": '"default";q=100;w=45'}, 45),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "45"}, None),
        ({"ratelimit": '"default";r=3;t=45'}, None),
        ({"x-ratelimit-reset": "45"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790855000"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "Thu, 01 Oct 2026 12:01:00 GMT"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2026-10-01T12:01:00Z"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2026-10-01T14:01:00+02:00"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790856060000000"}, 60),
        ({"x-ratelimit-remaining": "0, 7", "x-ratelimit-reset": "45, 30"}, 45),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 30}, None),
        ({"x-ratelimit-remaining": "none", "x-ratelimit-reset": "x"}, None),
        ({"ratelimit": '";;;,,,"'}, None),
        ({}, None),
    ],
)
def test_a_budget_that_is_spent_parks_until_its_reset(headers, wait):
    assert park_seconds(200, headers, 1_790_856_000.0) == wait


def test_a_refusal_parks_even_where_the_rest_is_not_told():
    assert park_seconds(429, {"x-ratelimit-reset": "45"}, NOW) == 45


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (403, {"x-ratelimit-remaining": "0"}, 60),
        (429, {"ratelimit-remaining": "0"}, 60),
        (403, {"x-ratelimit-remaining": "7"}, None),
        (403, {"x-ratelimit-reset": "45"}, None),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}, None),
        (404, {"x-ratelimit-remaining": "0"}, None),
    ],
)
def test_a_limit_that_is_spent_without_an_end_parks_for_a_minute(status, headers, wait):
    assert park_seconds(status, headers, NOW) == wait


def test_a_reset_that_is_a_date_is_kept_on_a_refusal():
    assert park_seconds(429, {"x-ratelimit-reset": "Sun, 06 Nov 1994 08:49:37 GMT"}, NOW) == 30


def test_a_retry_after_about_one_item_does_not_park_the_server():
    assert park_seconds(202, {"retry-after": "30"}, NOW) is None


def test_a_date_is_measured_by_the_servers_own_clock():
    headers = {"date": "Sun, 06 Nov 1994 08:49:07 GMT", "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}

    assert park_seconds(429, headers, NOW + 7200) == 30


def test_the_server_is_told_apart_from_its_dates():
    assert http_date("Sun, 06 Nov 1994 08:49:37 GMT") == NOW + 30


@pytest.mark.parametrize("form", ["x", "draft", "seconds", "date"])
def test_the_limits_of_a_real_server_are_understood(client, clock, sandbox, form):
    sandbox.shop.script(shop="coinhall", limit={"count": 1, "seconds": 60, "form": form})
    http = client(clock=clock)
    http.get(f"{sandbox.url}/shop/coinhall/coins")

    reply = http.get(f"{sandbox.url}/shop/coinhall/coins")

    assert reply.status == 429
    assert 0 < reply.park_seconds <= 60

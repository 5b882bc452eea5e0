from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from haulwright.errors import InvalidValue
from haulwright.sources.http.address import parse
from haulwright.sources.tools import urls
from haulwright.sources.tools.urls import absolute_url, canonical_url

NAMES = st.sampled_from(["id", "a", "a-b", "b", "utm_source", "UTM_Medium", "fbclid", "source", "p"])
PLAIN_TEXT = st.text("abcXYZ019._~-", max_size=6)
PLAIN_URLS = st.builds(
    lambda host, segments, pairs, fragment: (
        f"https://{host}"
        + "".join(f"/{segment}" for segment in segments)
        + ("?" + "&".join(f"{name}={value}" for name, value in pairs) if pairs else "")
        + fragment
    ),
    st.sampled_from(["news.example", "a-b.news.example"]),
    st.lists(st.text("abcXYZ019._~-@:", max_size=6), max_size=3),
    st.lists(st.tuples(NAMES, PLAIN_TEXT), max_size=4),
    st.sampled_from(["", "#", "#top"]),
)
ANY_URLS = st.builds("http{}://{}{}".format, st.sampled_from(["", "s"]), st.text(max_size=8), st.text(max_size=30))


@pytest.mark.parametrize(
    ("spelling", "form"),
    [
        ("HTTP://News.Example:80/a/../b/?b=2&a=1#top", "http://news.example/b/?a=1&b=2"),
        ("https://news.example:443", "https://news.example/"),
        ("https://news.example:0443/x", "https://news.example/x"),
        ("https://news.example:8443/x", "https://news.example:8443/x"),
        ("http://news.example:443/x", "http://news.example:443/x"),
        ("https://news.example./x?", "https://news.example/x"),
        ("https://bücher.example/ä?x=", "https://xn--bcher-kva.example/%C3%A4?x="),
        ("https://news.example/a%2fb%7e", "https://news.example/a%2Fb~"),
        ("https://news.example/x?q=a b&q=a+b", "https://news.example/x?q=a+b&q=a+b"),
        ("  https://news.example/x\n", "https://news.example/x"),
        ("http://[::0:1]:8080/", "http://[::1]:8080/"),
        ("https://news.example/a//b/./c/", "https://news.example/a//b/c/"),
    ],
)
def test_spellings_of_one_page_become_one_address(spelling, form):
    assert canonical_url(spelling) == form


def test_trackers_are_left_out_and_every_other_parameter_stays():
    tracked = "https://news.example/p?utm_source=rss&Utm_Medium=x&fbclid=1&gclid=2&mc_eid=3&_ga=4&id=5&source=rss&gl=us"

    assert canonical_url(tracked) == "https://news.example/p?gl=us&id=5&source=rss"
    assert canonical_url("https://news.example/p?utm_source=rss") == "https://news.example/p"
    assert canonical_url("https://news.example/ä?utm_source=rss") == "https://news.example/%C3%A4"


def test_a_source_may_keep_a_tracker_that_means_something_and_drop_a_parameter_that_does_not():
    url = "https://shop.example/p?utm_id=7&session=abc&id=1"

    assert canonical_url(url, keep={"utm_id"}, drop={"session"}) == "https://shop.example/p?id=1&utm_id=7"


def test_the_order_of_parameters_does_not_matter_and_repeated_ones_stay():
    assert canonical_url("https://a.example/?a-b=1&a=2&a=1") == canonical_url("https://a.example/?a=1&a-b=1&a=2")
    assert canonical_url("https://a.example/?a=2&a=1") == "https://a.example/?a=1&a=2"


def test_credentials_become_no_part_of_a_key_or_of_an_error():
    assert canonical_url("https://user:secret@news.example/x") == "https://news.example/x"
    with pytest.raises(InvalidValue) as refusal:
        canonical_url("https://user:secret@news example/x")
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    "junk",
    [
        *[
            "",
            "  ",
            "news",
            "/news",
            "//news.example/x",
            "javascript:alert(1)",
            "mailto:a@b.example",
            "file:///etc/hosts",
        ],
        *[
            "http://",
            "http:///x",
            "https://?x=1",
            "http://a b/",
            "http://a..b/",
            "http://.a/",
            "http://[::1/",
            "http://%61/",
        ],
        *["http://a.example:x/", "http://a.example:70000/", "http://a.example:0/", "https://a.example/" + "x" * 5_000],
        *["https://ä.example/" + "x" * 5_000, None, 7, b"https://news.example/"],
    ],
)
def test_what_is_no_http_address_is_refused_in_a_short_sentence_with_an_example(junk):
    with pytest.raises(InvalidValue, match=r"https://shop\.example/item") as refusal:
        canonical_url(junk)
    assert len(str(refusal.value)) < 400


@given(ANY_URLS | PLAIN_URLS)
@example("http://e.example\\@other.example/")
@example("https://e.example/%25%32%66?%2526=%")
def test_the_canonical_form_of_a_canonical_form_is_itself(url):
    try:
        form = canonical_url(url)
    except InvalidValue:
        return
    assert canonical_url(form) == form


@given(PLAIN_URLS)
def test_the_short_way_for_plain_addresses_gives_what_the_long_way_gives(url):
    assert canonical_url(url) == urls._parsed(url, (), ())


SITES = ["straße.de", "STRAẞE.de", "βόλος.com", "bücher.example", "ශ්\u200dරී.com", "\u0646\u0647\u200c\u0627.com",
         "\uff2eEWS.example", "news。example", "BÜCHER.example", "a.straße.de"]  # fmt: skip
ELSEWHERE = ["strasse.de", "strasse.de", "βόλοσ.com", "bucher.example", "ශ්රී.com", "\u0646\u0647\u0627.com"]


@pytest.mark.parametrize("site", SITES)
def test_the_form_of_an_address_leads_to_the_host_that_the_client_asks(site):
    asked = parse(f"https://{site}:8443/x")

    assert canonical_url(f"https://{site}:8443/x") == asked.url
    assert canonical_url(asked.url) == asked.url


@pytest.mark.parametrize(("site", "other"), list(zip(SITES, ELSEWHERE, strict=False)))
def test_two_sites_never_share_a_form(site, other):
    assert canonical_url(f"https://{site}/") != canonical_url(f"https://{other}/")


@pytest.mark.parametrize("site", ["i❤.example", "a\u200db.example", "ä" * 70 + ".example", "℀.example"])
def test_a_host_that_the_client_refuses_has_no_form_either(site):
    with pytest.raises(InvalidValue):
        parse(f"https://{site}/")
    with pytest.raises(InvalidValue):
        canonical_url(f"https://{site}/")


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("/b?x=1", "https://news.example/b?x=1"),
        ("c", "https://news.example/a/c"),
        ("//cdn.example/i.png", "https://cdn.example/i.png"),
        (" https://other.example/ ", "https://other.example/"),
        ("java\nscript:alert(1)", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("http://[broken", None),
    ],
)
def test_a_link_leads_to_an_http_address_or_nowhere(link, target):
    assert absolute_url(link, "https://news.example/a/") == target


def test_a_relative_link_without_a_base_leads_nowhere():
    assert absolute_url("/b", None) is None

from __future__ import annotations

import time

import pytest

from haulwright.sources.robots import Robots

FILE = b"""\xef\xbb\xbfUser-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Crawl-delay: 2.5

User-agent: haulwright
Disallow: /only-for-others
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/", True), ("/private/x", False), ("/private/open/x", True), ("/a.pdf", False), ("/a.pdf?x=1", True)],
)
def test_the_longest_rule_decides(path, allowed):
    assert Robots.parse(FILE, 200).allows(f"https://shop.example{path}", "somebody") is allowed


def test_a_robot_that_is_named_follows_its_own_rules_only():
    robots = Robots.parse(FILE, 200)

    assert robots.allows("https://shop.example/private/x", "Haulwright/1.0")
    assert not robots.allows("https://shop.example/only-for-others", "Haulwright/1.0")


@pytest.mark.parametrize(
    ("status", "allowed"),
    [(404, True), (410, True), (403, True), (429, False), (500, False), (503, False), (304, False)],
)
def test_a_missing_file_allows_everything_and_a_failing_server_nothing_for_now(status, allowed):
    robots = Robots.parse(b"User-agent: *\nDisallow: /", status)

    assert robots.allows("https://shop.example/", "haulwright") is allowed
    assert robots.crawl_delay("haulwright") is None


def test_the_delay_that_a_site_asks_for_is_known():
    assert Robots.parse(FILE, 200).crawl_delay("somebody") == 2.5
    assert Robots.parse(b"User-agent: *\nCrawl-delay: 99999999", 200).crawl_delay("haulwright") == 86_400
    assert Robots.parse(b"User-agent: *\nCrawl-delay: soon", 200).crawl_delay("haulwright") is None


def test_only_whole_lines_of_the_first_500_kib_are_read():
    beginning, rule = b"User-agent: *\nDisallow: /secret\n#", b"\nDisallow: /a"
    padding = b"." * (500 * 1024 - len(beginning) - len(rule))

    robots = Robots.parse(beginning + padding + rule + b"-long-path\n", 200)

    assert not robots.allows("https://shop.example/secret", "haulwright")
    assert robots.allows("https://shop.example/another", "haulwright")


def test_every_rule_of_a_long_file_is_obeyed():
    robots = Robots.parse(b"User-agent: *\n" + b"Disallow: /a\n" * 20_000 + b"Disallow: /s\n", 200)

    assert not robots.allows("https://shop.example/s", "haulwright")
    assert robots.rule_against("https://shop.example/s", "haulwright") == "/s"


def test_rules_for_thousands_of_robots_at_once_take_no_endless_time():
    names = b"".join(b"User-agent: a%d\n" % number for number in range(10_000))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(10_000))

    robots = Robots.parse(b"User-agent: haulwright\nDisallow: /x\n" + names + rules, 200)

    assert not robots.allows("https://shop.example/x", "haulwright")
    assert robots.written.count("\n") < 11_000


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"<html>not found</html>", b"Disallow: /", b"x" * 600_000])
def test_a_file_that_says_nothing_allows_everything(body):
    assert Robots.parse(body, 200).allows("https://shop.example/", "haulwright")


def test_a_hostile_file_takes_no_long_time():
    rules = b"User-agent: *\n" + b"Disallow: /" + b"*a" * 4_000 + b"\n"

    started = time.process_time()
    Robots.parse(rules, 200).allows("https://shop.example/" + "a" * 2_000, "haulwright")

    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("agent", "path", "rule"),
    [
        ("somebody/1.0", "/private/x", "/private"),
        ("somebody/1.0", "/a.pdf", "/*.pdf$"),
        ("Haulwright/1.0", "/only-for-others", "/only-for-others"),
    ],
)
def test_the_rule_that_forbids_is_named_as_the_site_writes_it(agent, path, rule):
    assert Robots.parse(FILE, 200).rule_against(f"https://shop.example{path}", agent) == rule


def test_robots_that_are_named_together_share_their_rules():
    robots = Robots.parse(b"User-agent: a\nUser-agent: b\nDisallow: /x # for both\n\nUser-agent: *\nDisallow: /y", 200)

    assert [robots.rule_against("https://shop.example/x", agent) for agent in ("a", "b", "c")] == ["/x", "/x", None]

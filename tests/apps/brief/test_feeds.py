"""Feeds are added one by one or from a list; what cannot work is refused before anything is written."""

from __future__ import annotations

import pytest

from haulwright.apps.brief.application import Brief
from haulwright.apps.brief.opml import read_opml
from haulwright.apps.brief.settings import BriefSettings
from haulwright.client.app import Haulwright
from haulwright.errors import Conflict, InvalidValue, NotFound
from tests.apps.principals import ACME, GLOBEX

OPML = b"""<?xml version="1.0"?><opml version="2.0"><head><title>mine</title></head><body>
<outline text="News"><outline type="rss" text="One" xmlUrl="https://one.example/feed?utm_source=x"/>
<outline title="Two" xmlUrl="https://two.example/atom.xml"/></outline>
<outline text="again" xmlUrl="https://one.example/feed?utm_source=x"/>
<outline text="a folder"/><outline text="bad" xmlUrl="ftp://three.example/feed"/></body></opml>"""


def test_a_feed_is_known_by_its_address_whatever_its_spelling(world):
    feed = world.brief.add(ACME, "HTTPS://News.Example:443/feed?utm_source=x#top", name="News", weight=2)

    assert (feed.url, feed.name, feed.weight, feed.enabled) == ("https://news.example/feed", "News", 2.0, True)
    with pytest.raises(Conflict, match=feed.id):
        world.brief.add(ACME, "https://news.example/feed")
    assert world.brief.add(GLOBEX, "https://news.example/feed").id == feed.id


def test_the_feed_of_another_tenant_looks_like_an_absent_one(world):
    feed = world.brief.add(ACME, "https://news.example/feed")

    with pytest.raises(NotFound):
        world.brief.feeds.get("globex", feed.id)
    with pytest.raises(NotFound):
        world.brief.feeds.change("globex", feed.id, enabled=False)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), 101])
def test_a_weight_that_cannot_be_reckoned_with_is_refused(world, weight):
    with pytest.raises(InvalidValue, match="weight"):
        world.brief.add(ACME, "https://news.example/feed", weight=weight)

    assert list(world.brief.feeds.all("acme")) == []


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://127.0.0.1/feed", "intranet.example"),
        ("http://[::1]/feed", "127.0.0.1"),
        ("http://10.0.0.1/x", "10.1.0.0/16"),
        ("http://localhost/", "intranet.example"),
    ],
)
def test_a_private_address_is_refused_unless_somebody_named_it(url, named):
    brief = Brief(Haulwright("sqlite:///never-opened.db"), figures=BriefSettings(private_hosts=named))

    with pytest.raises(InvalidValue, match="HAULWRIGHT_BRIEF_PRIVATE_HOSTS"):
        brief.add(ACME, url)


def test_a_list_of_feeds_is_imported_and_what_is_refused_keeps_nothing_else_out(world):
    answers = dict(world.brief.import_opml(ACME, OPML))

    assert {feed.url for feed in world.brief.feeds.all("acme")} == {
        "https://one.example/feed",
        "https://two.example/atom.xml",
    }
    assert "ftp" in answers["ftp://three.example/feed"]


def test_importing_twice_adds_nothing(world):
    world.brief.import_opml(ACME, OPML)

    again = world.brief.import_opml(ACME, OPML)

    assert all(isinstance(why, str) for _, why in again)
    assert len(list(world.brief.feeds.all("acme"))) == 2


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "no XML"),
        (b"<html></html>", "<html>"),
        (b"<opml><body/></opml>", "no feeds"),
        (b"<opml><body>", "no XML"),
        (b'<!DOCTYPE opml [<!ENTITY a "b">]><opml><body><outline xmlUrl="&a;"/></body></opml>', "entities"),
        (b"<opml>" + b"<outline>" * 200 + b"</outline>" * 200 + b"</opml>", "nests"),
        (b" " * (9 * 1024 * 1024), "bytes"),
    ],
)
def test_a_list_that_is_none_or_could_do_harm_is_refused(body, why):
    with pytest.raises(InvalidValue, match=why):
        read_opml(body)


def test_the_token_of_a_private_feed_is_in_no_event_and_no_error(world):
    world.brief.add(ACME, f"{world.sandbox.url}/files/private.xml?token=hunter2hunter2&size=10")

    (result,) = world.read()

    events = world.rows("select data from haulwright_events where name like 'feed.%'")
    assert (result["outcome"], len(events)) == ("failed", 2)
    assert "hunter2" not in str(events) + str(result) + str(world.rows("select last_error from brief_feeds"))

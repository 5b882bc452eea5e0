from __future__ import annotations

import pytest

from haulwright.sources.feeds import parse_feed

FEED_URL = "https://news.example/feed"


def read(*items, url=None):
    inside = "".join(f"<item>{item}</item>" for item in items)
    return parse_feed(f"<rss version='2.0'><channel><title>News</title>{inside}</channel></rss>".encode(), url=url)


def keys(*items):
    return [entry.key for entry in read(*items).entries]


GUID = "<guid isPermaLink='false'>{}</guid>"
LINK = "<link>https://news.example/{}</link>"
TITLE = "<title>{}</title>"
TEXT = "<description>{}</description>"
DATE = "<pubDate>Sat, 14 Nov 2026 09:00:00 GMT</pubDate>"


@pytest.mark.proves("IN-17")
def test_reading_a_feed_again_gives_the_same_keys():
    items = [GUID.format(1) + TITLE.format("One"), LINK.format("two"), TITLE.format("Three") + DATE]

    assert keys(*items) == keys(*items)
    assert len(set(keys(*items))) == 3


def test_an_entry_is_known_by_its_guid_whatever_else_changes():
    before = GUID.format(1) + LINK.format("a") + TITLE.format("Tolls rise")
    after = GUID.format(1) + LINK.format("b?utm_source=x") + TITLE.format("Tolls fall") + DATE

    assert keys(before) == keys(after)
    assert read(before).entries[0].content_hash != read(after).entries[0].content_hash


def test_without_a_guid_an_entry_is_known_by_its_canonical_address():
    assert keys(LINK.format("a?b=1&amp;a=2")) == keys(
        LINK.format("a?a=2&amp;utm_source=x&amp;b=1") + TITLE.format("New")
    )
    assert keys(LINK.format("a")) != keys(LINK.format("b"))


def test_without_guid_and_link_an_entry_is_known_by_title_and_date():
    assert keys(TITLE.format("Tolls  Rise") + DATE) == keys(TITLE.format("tolls rise ") + DATE)
    assert keys(TITLE.format("Tolls rise") + DATE) != keys(TITLE.format("Tolls rise"))


def test_one_guid_for_different_articles_is_completed_by_their_addresses():
    feed = read(GUID.format("same") + LINK.format("a"), GUID.format("same") + LINK.format("b"))

    assert len({entry.key for entry in feed.entries}) == 2
    assert all("the guid stands for several entries" in entry.warnings for entry in feed.entries)


@pytest.mark.proves("IN-17")
def test_an_entry_that_stands_there_twice_is_taken_once():
    feed = read(GUID.format(1) + LINK.format("a"), GUID.format(1) + LINK.format("a?utm_source=x"))

    assert len(feed.entries) == 1
    assert feed.warnings == ("entry 2 repeats an earlier one and was left out",)


def test_an_entry_that_says_nothing_at_all_is_left_out_with_a_warning():
    feed = read("<category>tolls</category>", GUID.format(1))

    assert [entry.guid for entry in feed.entries] == ["1"]
    assert feed.warnings == ("entry 1 has no guid, link, title or text and was left out",)


def test_the_warnings_about_entries_that_were_left_out_have_an_end():
    feed = read(*["<category>tolls</category>"] * 100)

    assert len(feed.warnings) == 21
    assert feed.warnings[-1] == "80 more entries were left out"


@pytest.mark.proves("IN-17")
def test_entries_that_are_a_text_alone_are_each_kept_and_never_lead_to_the_feed_itself():
    texts = [TEXT.format(f"What I thought of number {number}") for number in range(22)]

    feed = read(*texts, url=FEED_URL)

    assert len(feed.entries) == 22
    assert {(entry.url, entry.canonical_url, entry.guid) for entry in feed.entries} == {(None, None, None)}
    assert [entry.key for entry in feed.entries] == [entry.key for entry in read(*texts, url=FEED_URL).entries]
    assert feed.link is None


def test_entries_without_a_link_are_known_by_their_guids():
    feed = read(*[GUID.format(number) + TITLE.format("Status") for number in (1, 2, 3)], url=FEED_URL)

    assert [entry.guid for entry in feed.entries] == ["1", "2", "3"]
    assert len({entry.key for entry in feed.entries}) == 3
    assert {entry.url for entry in feed.entries} == {None}


def test_a_guid_that_is_no_address_leads_nowhere_although_rss_takes_it_for_one():
    assert read("<guid>id-1</guid>" + TITLE.format("One"), url=FEED_URL).entries[0].url is None
    assert read("<guid>https://news.example/1</guid>", url=FEED_URL).entries[0].url == "https://news.example/1"


def test_without_guid_link_and_date_a_new_text_under_an_old_title_is_a_new_entry():
    assert keys(TITLE.format("Status") + TEXT.format("all is well")) != keys(TITLE.format("Status") + TEXT.format("no"))


def test_one_title_and_date_for_different_texts_is_completed_by_them():
    same = TITLE.format("Status") + DATE

    feed = read(same + TEXT.format("all is well"), same + TEXT.format("the lock is shut"))

    assert [entry.summary for entry in feed.entries] == ["all is well", "the lock is shut"]


@pytest.mark.parametrize("name", ["<link>https://status.example/</link>", GUID.format("same"),
                                  GUID.format("same") + "<link>https://status.example/</link>"])  # fmt: skip
def test_different_entries_under_one_name_are_each_kept(name):
    items = [name + TITLE.format("Lock shut") + DATE, name + TITLE.format("Lock open") + DATE]

    feed = read(*items, url=FEED_URL)

    assert [entry.title for entry in feed.entries] == ["Lock shut", "Lock open"]
    assert keys(*items) == keys(*reversed(items))[::-1]


def test_addresses_that_differ_in_their_fragment_alone_are_of_different_entries():
    feed = read(LINK.format("changes#v2") + TEXT.format("b"), LINK.format("changes#v1") + TEXT.format("a"))

    assert [entry.url for entry in feed.entries] == [
        "https://news.example/changes#v2",
        "https://news.example/changes#v1",
    ]


def test_items_of_a_json_feed_without_an_address_have_none():
    items = '{"id": 1, "content_text": "a"}, {"content_text": "b"}, {"content_text": "c"}'

    feed = parse_feed(f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{items}]}}'.encode(), url=FEED_URL)

    assert [entry.summary for entry in feed.entries] == ["a", "b", "c"]
    assert {entry.url for entry in feed.entries} == {None}
    assert feed.link is None


@pytest.mark.parametrize(
    ("guid", "alternative"),
    [
        ("http://old.example/a?p=1", "/a?p=1"),
        ("https://new.example/a?p=1", "/a?p=1"),
        ("https://new.example", "https://new.example"),
        ("tag:news.example,2026:a", "tag:news.example,2026:a"),
    ],
)
def test_a_guid_without_scheme_and_host_survives_the_move_of_a_site(guid, alternative):
    assert read(GUID.format(guid)).entries[0].guid_alt == alternative


def test_copies_of_a_text_have_one_hash():
    one = TITLE.format("Café opens") + "<description>Two  words</description>"
    copy = (
        TITLE.format("Cafe\u0301 OPENS") + "<description>&lt;p&gt;Two &lt;b&gt;words&lt;/b&gt;&lt;/p&gt;</description>"
    )

    assert read(one).entries[0].content_hash == read(copy).entries[0].content_hash


@pytest.mark.parametrize("link", ["javascript:alert(1)", "mailto:a@b.example", "http://[broken", "/relative"])
def test_a_link_that_leads_nowhere_is_none_and_the_entry_stays(link):
    entry = read(GUID.format(1) + f"<link>{link}</link>").entries[0]

    assert (entry.url, entry.canonical_url) == (None, None)


def test_an_address_that_no_name_can_lead_to_is_said():
    entry = read(GUID.format(1) + "<link>https://a..b/x</link>").entries[0]

    assert entry.canonical_url is None
    assert entry.warnings == ("the link has no host that a name can lead to",)


@pytest.mark.parametrize("link", ["&#27;", "#part-2", " ", "&#10;", "<![CDATA[ ]]>"])
def test_a_link_that_says_nothing_does_not_lead_to_the_feed_itself(link):
    assert read(f"<title>One</title><link>{link}</link>", url=FEED_URL).entries[0].url is None

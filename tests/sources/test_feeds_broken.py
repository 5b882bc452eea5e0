from __future__ import annotations

import gzip
import time
from html import escape

import feedparser
import pytest

from haulwright.errors import Permanent
from haulwright.sources.feeds import FeedLimits, parse_feed

ITEM = "<item><title>{}</title><link>https://news.example/{}</link></item>"
BILLION_LAUGHS = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><rss version="2.0"><channel><title>&c;</title></channel></rss>"""
BASE = "<x xml:base='https://b.example/'/>"  # which leaves a feed to feedparser
FILE_READER = """<!DOCTYPE rss [ <!entity % x SYSTEM "file:///etc/hostname"> %x; ]><rss version="2.0"></rss>"""


def rss(inside, head=""):
    return f"{head}<rss version='2.0'><channel><title>News</title>{inside}</channel></rss>"


def titles(feed):
    return [entry.title for entry in feed.entries]


@pytest.mark.parametrize("bomb", [BILLION_LAUGHS, FILE_READER, BILLION_LAUGHS.replace("?>", "?><!-- <rss> -->")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_declared_entities_are_refused_before_anything_unfolds_them(bomb, encoding, monkeypatch):
    monkeypatch.setattr(feedparser, "parse", lambda *_, **__: pytest.fail("the parser saw it"))

    with pytest.raises(Permanent, match="declares entities"):
        parse_feed(bomb.encode(encoding))


def test_an_article_about_entities_is_no_bomb():
    body = rss("<item><title><![CDATA[How <!ENTITY a 'b'> unfolds]]></title><guid>1</guid></item>")

    assert titles(parse_feed(body.encode())) == ["How <!ENTITY a 'b'> unfolds"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (rss("<a>" * 600 + "</a>" * 600), "deeper than 500"),
        (rss("<item/>" * 11), "more than 10 entries"),
        (rss("<item>" * 11), "more than 10 entries"),
        (rss("<a/>" * 1_001), "more than 1000 elements"),
        (rss("&" + "<br>" * 1_001), "more than 1000 elements"),
        (rss(BASE + "<link " + "".join(f" a{n}='x'" for n in range(101)) + "/>"), "more than 100 attributes"),
        (rss(BASE + f"<item>{'<category/>' * 101}</item>"), "more than 100 tags"),
        (rss(BASE + f"<item><keywords>{'a,' * 100}</keywords></item>"), "more than 100 tags"),
        (rss(BASE + f"<item/>{'<tags/>' * 60}" * 2), "more than 100 tags"),
        (rss(BASE + f"<item><item/>{'<tags/>' * 60}</item>" * 2), "more than 100 tags"),
        (rss(BASE + f"<image/><item><image>{'<tags/>' * 60}</image></item>" * 2), "more than 100 tags"),
        (rss(f"&<item><keywords>{'a,' * 2_000}</keywords></item>"), "more than 100 tags"),
        (rss(f"&<item>{'<keywords>,,,,' * 500}</item>"), "more than 100 tags"),
        (rss("x" * 100_000), "100063 bytes; 100000 are allowed"),
        ('{"version": "https://jsonfeed.org/version/1", "items": [' + "{}," * 10 + "{}]}", "more than 10 entries"),
        ("[" * 100_000, "nested too deeply|has more"),
    ],
)
def test_what_is_too_much_is_refused_before_it_is_read(body, why, monkeypatch):
    monkeypatch.setattr(feedparser, "parse", lambda *_, **__: pytest.fail("the parser saw it"))
    limits = FeedLimits(size_bytes=100_000, entries=10, elements=1_000, tags=100)

    with pytest.raises(Permanent, match=why):
        parse_feed(body.encode(), limits=limits)


@pytest.mark.parametrize(
    "hostile",
    ["<!--", "<![CDATA[", "<a ", '<a b="', "<", "&", "<?", "<!", "<svg><style>", "</p>", "<b><p>", "<div>", "<table>"],
)
def test_hostile_markup_in_an_entry_takes_no_long_time(hostile):
    body = rss(f"<item><guid>1</guid><description>{escape(hostile * 20_000)}</description></item>").encode()

    started = time.process_time()
    feed = parse_feed(body)

    assert len(feed.entries) == 1
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "hostile",
    [
        "<author>{}</author>",
        "<dc:creator><![CDATA[{}]]></dc:creator>",
        "<author><b>{}</b></author>",
        "<author><author>{}</author>",
        "&<managingEditor >{}</managingEditor>",
    ],
)
def test_an_author_as_long_as_a_book_is_cut_before_anybody_looks_for_a_mail_address_in_it(hostile):
    namespaces = "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel>"
    item = f"<item><guid>1</guid>{hostile.format('2026-' * 200_000)}<title>One</title></item>"

    feed = parse_feed(f"{namespaces}{item}</channel></rss>".encode())

    assert titles(feed) == ["One"]
    assert len(feed.entries[0].author or "") <= 500
    assert "an author has more than 500 characters and was cut" in feed.warnings


def test_of_a_paper_with_hundreds_of_authors_the_feed_is_read_and_the_first_of_them_are_named():
    names = ", ".join(f"Author Number {number}" for number in range(300))
    item = f"<item><guid>1</guid><dc:creator>{names}</dc:creator></item><item><guid>2</guid></item>"

    feed = parse_feed(
        f"<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel>{item}</channel></rss>".encode()
    )

    assert len(feed.entries) == 2
    assert feed.entries[0].author.startswith("Author Number 0, Author Number 1, ")


@pytest.mark.parametrize("nobody", ["<dc:creator/>", "<dc:creator />", "<dc:creator></dc:creator>"])
@pytest.mark.parametrize("fault", ["", "&"])
def test_an_entry_without_an_author_says_nothing_about_the_length_of_the_next_one(nobody, fault):
    first = f"<item><title>One</title>{nobody}<description>{fault}{'word ' * 120}</description></item>"
    second = "<item><title>Two</title><dc:creator>Jo</dc:creator></item>"

    feed = parse_feed(
        f"<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel>{first}{second}</channel></rss>".encode()
    )

    assert [(entry.title, entry.author) for entry in feed.entries] == [("One", None), ("Two", "Jo")]


def test_an_article_about_authors_in_markup_is_no_author():
    about = f"<![CDATA[Write <author> first. {'word ' * 120}]]>"

    feed = parse_feed(rss(f"<item><guid>1</guid><description>{about}</description><author>Jo</author></item>").encode())

    assert feed.entries[0].author == "Jo"


@pytest.mark.parametrize("hostile", ["\n", "<!-- ", "<?x ", "<!DOCTYPE ", "<!--a-->", " <!DOCTYPE a>\n"])
def test_a_hostile_beginning_takes_no_long_time(hostile):
    started = time.process_time()
    with pytest.raises(Permanent):
        parse_feed((hostile * 100_000).encode() + b"x")

    assert time.process_time() - started < 5


@pytest.mark.parametrize("address", [b"http://127.0.0.1:9/feed", b"file:///etc/hostname", b"/etc/hostname"])
def test_bytes_that_look_like_an_address_are_never_opened(address, monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("a file was opened"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something was fetched"))

    with pytest.raises(Permanent, match="text that begins with"):
        parse_feed(address)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"", "the body is empty"),
        (b" \n\t", "the body is empty"),
        (b"<!DOCTYPE html><html><head><title>Log in</title></head></html>", "an HTML page"),
        (b"<HTML><body>404</body></HTML>", "an HTML page"),
        (b"<?xml version='1.0'?><sitemap><url/></sitemap>", "begins with <sitemap>"),
        (b"Not found", "text that begins with 'Not found'"),
        (b'{"error": "not found"}', "JSON without a list of items"),
        (b'{"items": [', "looks like JSON, but"),
        (gzip.compress(b"<rss/>", mtime=0), "gzip data"),
        (b"%PDF-1.7", "a PDF"),
        (b"\x89PNG\r\n", "an image"),
    ],
)
def test_what_is_no_feed_is_refused_saying_what_it_is(body, found):
    with pytest.raises(Permanent, match=found):
        parse_feed(body)


@pytest.mark.parametrize(
    ("broken", "warning"),
    [
        (
            rss(ITEM.format("One", 1) + "<item><title>Two</title><guid>2</guid></channel>"),
            "not well-formed: mismatched tag",
        ),
        (rss(ITEM.format("One", 1) + ITEM.format("Two", 2))[:-40], "not well-formed: "),
        (rss(ITEM.format("One", 1) + ITEM.format("Two", "?a=1&b=2")), "not well-formed: "),
        (rss(ITEM.format("One&nbsp;", 1) + ITEM.format("Two", 2)), "not well-formed: undefined entity in line 1"),
        (rss(ITEM.format("One\x0b", 1) + ITEM.format("Two", 2)), "1 characters that XML does not allow"),
        (
            rss(ITEM.format("One", 1) + ITEM.format("Two", 2), "Warning: <b>no</b> cache\n"),
            "something stands before the feed",
        ),
        (rss(ITEM.format("One", 1) + ITEM.format("Two", 2), "\n\n<?xml version='1.0'?>"), None),
    ],
)
def test_of_a_broken_feed_what_can_be_read_is_read_with_a_warning(broken, warning):
    feed = parse_feed(broken.encode())

    assert titles(feed) == ["One", "Two"]
    assert warning is None or any(note.startswith(warning) for note in feed.warnings), feed.warnings


@pytest.mark.parametrize(
    ("declared", "real", "header", "warning"),
    [
        ("utf-8", "utf-8", None, None),
        ("iso-8859-1", "utf-8", None, "declared as iso8859-1, but it is utf-8"),
        ("utf-8", "windows-1252", None, "declared in no encoding that fits, read as windows-1252"),
        ("utf-8", "utf-8", "text/xml; charset=iso-8859-1", "declared as iso8859-1, but it is utf-8"),
        ("windows-1252", "windows-1252", None, None),
        ("iso-8859-1", "windows-1252", None, None),
        ("iso-8859-15", "iso-8859-15", "application/xml; charset=utf-8", "declared as utf-8, but it is iso8859-15"),
        ("utf-16", "utf-16", None, None),
        ("utf-8", "utf-16-le", None, None),
        ("utf-8", "utf-8-sig", None, None),
        ("punycode", "utf-8", None, None),
        ("no-such-thing", "utf-8", "text/xml; charset=nonsense", None),
    ],
)
def test_a_wrong_encoding_is_found_out(declared, real, header, warning):
    text = rss(
        "<item><title>Grüße für 5 €</title><guid>1</guid></item>", f'<?xml version="1.0" encoding="{declared}"?>'
    )

    feed = parse_feed(text.encode(real), content_type=header)

    assert titles(feed) == ["Grüße für 5 €"]
    assert feed.warnings == ((f"encoding: {warning}",) if warning else ())


def test_a_few_broken_bytes_do_not_spoil_the_rest():
    body = rss("<item><title>Grüße, Ärger, Öl</title><guid>1</guid></item>").encode().replace("Öl".encode(), b"\xd6l")

    feed = parse_feed(body)

    assert titles(feed) == ["Grüße, Ärger, \ufffdl"]
    assert feed.warnings == ("encoding: 1 bytes are no utf-8 and were replaced",)


def test_japanese_in_seven_bits_is_read_as_declared():
    text = rss("<item><title>港の門</title><guid>1</guid></item>", '<?xml version="1.0" encoding="iso-2022-jp"?>')

    assert titles(parse_feed(text.encode("iso-2022-jp"))) == ["港の門"]


@pytest.mark.parametrize(
    ("limits", "left"), [(FeedLimits(text_chars=10), "1<br>2<br>"), (FeedLimits(text_tags=3), "1<br>2<br>3<br>4")]
)
def test_a_very_long_text_is_cut_with_a_warning(limits, left):
    body = rss(f"<item><guid>1</guid><description>{escape('1<br>2<br>3<br>4<br>5<br>6')}</description></item>").encode()

    entry = parse_feed(body, limits=limits).entries[0]

    assert entry.content == left
    assert entry.warnings == ("the text is too long and was cut",)

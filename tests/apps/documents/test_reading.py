"""What a file says: of a page what a reader sees, of a PDF page by page, however broken some of them are."""

from __future__ import annotations

import asyncio

import pytest

from haulwright.apps.documents import pdf_reading
from haulwright.apps.documents.kinds import HTML, PDF
from haulwright.apps.documents.page_text import read_page
from haulwright.apps.documents.pdf_reading import LINE_BYTES
from haulwright.apps.documents.reading import LONGEST_TITLE_CHARS, read_text
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.operations.principal import Principal
from tests.apps.documents.papers import encrypted, paper
from tests.apps.documents.scenes import TENANT


@pytest.fixture
def read(tmp_path):
    """What is read of these bytes."""

    def read(body: bytes, kind: str = PDF, **figures: object):
        path = tmp_path / "file"
        path.write_bytes(body)
        return asyncio.run(read_text(path, kind, DocumentSettings.load(**figures)))

    return read


def pages(reading):
    return reading.text.split(pdf_reading.PAGE_END)


def test_blocks_of_a_page_are_lines_and_words_that_only_markup_divides_stay_whole():
    page = read_page(
        "<h1>Tide <em>tab</em>les</h1><p>High\n   water<br>at noon</p><ul><li>one<li>two</ul>"
        "<table><tr><th>port</th><td>3.1 m</td></tr><tr><td>quay</td><td>2.9 m</td></tr></table>last"
    )

    assert page.text.split("\n") == [
        "Tide tables", "High water", "at noon", "one", "two", "port 3.1 m", "quay 2.9 m", "last",
    ]  # fmt: skip


def test_what_nobody_reads_is_no_text_of_a_page():
    page = read_page(
        "<head><title>T</title><style>kelp</style></head><body>sea<!-- eel --><script>weed</script><style>whelk</style>"
        "<noscript>limpet</noscript><template><p>clam</p></template><svg><title>crab</title><text>roe</text></svg>"
    )

    assert page == ("T", "sea")


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Its &amp; own</title><meta property='og:title' content='Shared'>", "Its & own"),
        ("<title> </title><meta property='og:title' content='Shared'>", "Shared"),
        ("", "A heading"),
    ],
)
def test_a_page_has_the_title_that_it_gives_itself_or_else_its_heading(head, title):
    assert read_page(f"<head>{head}</head><body><h1>A <b>heading</b></h1>").title == title


@pytest.mark.parametrize("body", [b"", b"<!doctype html>", b"<html><frameset></frameset></html>", b"<p" * 5_000])
def test_a_page_without_text_has_none(read, body):
    assert read(body, HTML).problem is None


def test_the_pages_of_a_pdf_are_read_one_by_one_in_order(read):
    reading = read(paper("first", "second", "third", title="The log"))

    assert [name in text for name, text in zip(("first", "second", "third"), pages(reading), strict=True)] == [True] * 3
    assert (reading.title, reading.problem, reading.is_whole) == ("The log", None, True)


def test_a_title_of_any_length_does_not_lose_the_pages(read):
    reading = read(paper("first", title="endless " * (LINE_BYTES // 8 + 1)))

    assert ("first" in reading.text, reading.problem) == (True, None)
    assert reading.title.startswith("endless endless")
    assert len(reading.title) <= LONGEST_TITLE_CHARS


def test_a_page_that_cannot_be_read_does_not_lose_the_others(read):
    reading = read(paper("first", "second", "third", broken=[2]))

    assert [bool(text) for text in pages(reading)] == [True, False, True]
    assert reading.problem.startswith("1 of 3 pages cannot be read: 2 (page 2: ")
    assert not reading.is_whole


def test_a_page_that_takes_too_long_does_not_lose_the_others(read):
    reading = read(paper("first", "second", "third", slow=[2]), reading_seconds=1)

    assert [bool(text) for text in pages(reading)] == [True, False, True]
    assert "PageTooSlow" in reading.problem


def test_pages_that_were_read_before_a_limit_ended_it_stay(read, monkeypatch):
    monkeypatch.setattr(pdf_reading, "MOST_PAGES", 2)

    reading = read(paper("first", "second", "third"))

    assert ["first" in reading.text, len(pages(reading)), reading.is_whole] == [True, 2, False]


@pytest.mark.parametrize("algorithm", ["AES-256", "AES-128", "RC4-128"])
def test_an_encrypted_pdf_that_everybody_may_open_is_read(read, algorithm):
    reading = read(encrypted(paper("open"), "", algorithm))

    assert ("open" in reading.text, reading.problem) == (True, None)


def test_a_pdf_that_needs_a_password_is_stored_and_its_status_is_encrypted(world):
    world.sandbox.files.put("sealed.pdf", encrypted(paper("sealed"), "secret"))
    planned = world.add("sealed.pdf")
    world.bench.drain()

    assert world.state(planned) == "INDEXED"
    (file,) = world.documents.artifacts.search(TENANT, "sealed")
    assert (file.text_problem, world.documents.artifacts.text(TENANT, file.sha256)) == ("encrypted", "")


def test_a_search_says_on_which_page_of_a_pdf_it_is(world):
    world.sandbox.files.put("log.pdf", paper("first", "second", "third"))
    world.add("log.pdf")
    world.add("notes.txt")
    world.bench.drain()

    hits = [world.documents.search_hits(Principal.of_tenant(TENANT), word)[0] for word in ("third", "first", "notes")]

    assert [hit.page for hit in hits] == [3, 1, None]
    assert "third" in hits[0].passage


def test_a_search_names_no_page_where_the_title_alone_has_the_words(world):
    world.sandbox.files.put("log.pdf", paper("first", "bollards"))
    world.add("log.pdf", title="Bathymetry of the bay")
    world.bench.drain()

    (by_title,) = world.documents.search_hits(Principal.of_tenant(TENANT), "bathymetry")
    (by_both,) = world.documents.search_hits(Principal.of_tenant(TENANT), "bathymetry bollards")

    assert (by_title.page, by_both.page) == (None, 2)
    assert by_title.passage

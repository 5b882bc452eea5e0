"""The same words find the same documents on both databases."""

from __future__ import annotations

import pytest

from haulwright.apps.documents.tokenizer import parse_query, tokenize
from haulwright.errors import InvalidValue
from tests.apps.documents.scenes import TENANT

TEXTS = {
    "harbour": "The Harbour Master's dues: Überseehafen, naïve façade, 3.14 per cent",
    "trains": "Night trains to Zürich and Kraków. STRASSE or Straße? e-mail: someone@example.org",
    "tides": "Приливы и отливы; 潮汐 表; tide-tables 2024-05-01 v1e5 123abc",
}


@pytest.fixture
def shelf(world):
    """Three texts in the index."""
    for name, text in TEXTS.items():
        world.sandbox.files.put(f"{name}.txt", text.encode())
        world.add(f"{name}.txt", artifact_id=name)
    world.bench.drain()
    search = world.documents.artifacts.search
    return lambda query: sorted(file.source.rpartition("/")[2][:-4] for file in search(TENANT, query))


QUERIES = {
    "harbour": ["harbour"],
    "HARBOUR dues": ["harbour"],
    "harb*": ["harbour"],
    "harb": [],
    "uberseehafen": ["harbour"],
    "Überseehäfen": ["harbour"],
    "facade naive": ["harbour"],
    "zurich krakow": ["trains"],
    "strasse": ["trains"],
    "straß*": ["trains"],
    "e-mail": ["trains"],
    "someone@example.org": ["trains"],
    "приливы": ["tides"],
    "潮汐": ["tides"],
    "tide-tab*": ["tides"],
    "2024 05": ["tides"],
    "v1e5 123abc": ["tides"],
    "1e5": [],
    "3.14": ["harbour"],
    "harbour trains": [],
    "and or not near": [],
    'to" OR "and': ["trains"],
    "txt": ["harbour", "tides", "trains"],
}


def test_a_search_finds_these_and_no_others_on_both_databases(shelf):
    assert {query: shelf(query) for query in QUERIES} == QUERIES


def test_the_index_holds_what_a_person_wants_to_know(world):
    world.add("report.pdf", title="The annual report")
    world.bench.drain()

    (file,) = world.documents.artifacts.search(TENANT, "annual")

    sha256 = world.sandbox.files.sha256("report.pdf")
    assert (file.title, file.kind, file.sha256) == ("The annual report", "application/pdf", sha256)
    assert (file.source, file.text_problem) == (world.url("report.pdf"), None)
    assert file.bytes == world.documents.folders.place(TENANT, sha256).stat().st_size


def test_the_text_of_a_pdf_is_found_and_its_title_is_its_own(world):
    world.add("report.pdf")
    world.bench.drain()

    files = world.documents.artifacts.search(TENANT, "report edition")

    assert [file.key for file in files] == [world.documents.artifacts.list(TENANT)[0]["idempotency_key"]]


def test_a_pdf_that_cannot_be_read_is_stored_and_says_why(world):
    world.sandbox.files.put("broken.pdf", b"%PDF-1.4\nnothing that a reader knows\n%%EOF\n")
    planned = world.add("broken.pdf")
    world.bench.drain()

    assert world.state(planned) == "INDEXED"
    (file,) = world.documents.artifacts.search(TENANT, "broken")
    assert file.text_problem.startswith("the PDF cannot be read")


def test_only_the_beginning_of_a_long_text_is_indexed(world):
    world.sandbox.files.put("long.txt", b"early " + b"x " * 150_000 + b"late")
    world.add("long.txt")
    world.bench.drain()

    assert len(world.documents.artifacts.search(TENANT, "early")) == 1
    assert world.documents.artifacts.search(TENANT, "late") == []
    assert world.rows("select length(text) from documents_files") == [(200_000,)]


def test_words_are_folded_the_way_they_are_asked_for():
    assert tokenize("Ångström ångstrom ÅNGSTRÖM ﬁne x" + "y" * 70) == ["angstrom", "fine"]
    assert parse_query("Café crè*") == ["cafe", "cre*"]


@pytest.mark.parametrize("query", ["", "***", "- ; '", " ".join(map(str, range(40)))])
def test_a_search_for_nothing_or_for_too_much_is_refused(query):
    with pytest.raises(InvalidValue):
        parse_query(query)


PAGE = """<!DOCTYPE html><html><head><title>Tide tables</title><style>.kelp {{ color: red }}</style></head>
<body><h1>Tide tables</h1><script nonce="{nonce}">var seaweed = "{nonce}";</script><p>{text}</p>
<template><p>barnacle</p></template><noscript>limpet</noscript><style>.whelk {{}}</style></body></html>"""


def test_a_page_is_found_by_what_it_says_and_not_by_its_scripts_and_styles(world):
    page = PAGE.format(nonce="n1", text="High water at noon.")
    world.sandbox.files.put("tides.html", page.encode())
    world.add("tides.html")
    world.bench.drain()

    search = world.documents.artifacts.search
    assert [file.title for file in search(TENANT, "tide noon")] == ["Tide tables"]
    assert [search(TENANT, word) for word in ("seaweed", "kelp", "whelk", "barnacle", "limpet", "nonce")] == [[]] * 6


def test_two_pages_that_say_the_same_beside_a_number_of_their_own_are_the_same(world):
    text = "High water at noon, low water in the evening. " * 10
    for number in (1, 2):
        world.sandbox.files.put(f"tides{number}.html", PAGE.format(nonce=f"n{number}", text=text).encode())
        planned = world.add(f"tides{number}.html")
        world.bench.drain()

    assert world.state(planned) == "DEDUPED"

"""The list of the documents' lines is true to its tests, and the page of it to the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import document_lines
from tools.document_lines import DOCUMENTS, LATER, Line, Results, lines_of, read_lines, refused_on

DOCS = Path(__file__).parent.parent / "docs"
LINES = read_lines()


def test_the_page_of_the_lines_follows_from_their_tests():
    assert document_lines.main(["--check"]) == 0


def test_every_document_has_its_lines():
    assert {line.application for line in LINES} == set(DOCUMENTS)


def test_no_statement_stands_twice():
    places = [(line.application, line.at, line.text) for line in LINES]

    assert sorted(place for place in set(places) if places.count(place) > 1) == []


def test_what_differs_is_told_on_a_page():
    untold = [line for line in LINES if line.differs and not _is_told(line.page)]

    assert untold == []


def test_a_line_differs_or_is_missing_and_not_both():
    assert [line for line in LINES if line.differs and line.missing] == []
    assert [line for line in LINES if line.page and not line.differs] == []


def test_one_test_cannot_check_what_holds_and_what_does_not():
    holds, fails = Line("syncs", "1", "a"), Line("syncs", "2", "b", missing=LATER[0])

    assert (refused_on([holds], "sqlite"), refused_on([fails], "sqlite")) == (None, LATER[0])
    with pytest.raises(pytest.UsageError, match="hold and lines that do not"):
        refused_on([holds, fails], "sqlite")


def test_a_line_may_differ_on_one_database_alone():
    line = Line("syncs", "1", "a", differs="it has no intervals", page="index.md", on="sqlite")

    assert (refused_on([line], "sqlite"), refused_on([line], "postgres")) == ("it has no intervals", None)


def test_a_mark_is_a_line_of_the_application_whose_folder_it_is_in():
    mark = pytest.mark.line("36-40", "a statement", missing=LATER[1]).mark

    (line,) = lines_of(Path("tests/apps/brands_snapshot/test_it.py"), [mark])

    assert (line.application, line.at, line.verdict) == ("brands", "36-40", "missing")


def test_a_result_that_is_not_as_said_is_pointed_at():
    line = Line("syncs", "36", "a statement", missing=LATER[0])
    results = Results()
    results.outcomes[line] = {"sqlite": "not so", "postgres": "WORKS NOW"}

    assert "<== postgres WORKS NOW" in results.table()
    assert "1 lines: 0 works, 0 differs, 1 missing" in results.table()


def _is_told(page: str | None) -> bool:
    """Whether a page of docs/ is there, with the heading that is named."""
    name, _, anchor = (page or "").partition("#")
    path = DOCS / name
    if not name or not path.is_file():
        return False
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return not anchor or anchor in {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}

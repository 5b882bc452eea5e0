"""What the five teams' documents state, line by line, and whether it holds here.

A statement is a mark on the test that checks it, in the folder of its application:

    @pytest.mark.line("36", "a job is queued, running, failed, dead_letter or success")
    @pytest.mark.line("51", "a session opens it", differs="an app does", page="applications/syncs.md#from-code")
    @pytest.mark.line("233", "the tenant comes from a token", missing="the HTTP API")

The test asserts what the document states. Where it is said to differ or to be missing the test must fail, so that the
list stays true in both directions; `on="sqlite"` says so of one database alone.

    python tools/document_lines.py           run them all and print one result a line
    python tools/document_lines.py --write   write docs/reference/documents-line-by-line.md
    python tools/document_lines.py --check   exit 1 if that page is not current
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "documents-line-by-line.md"
TESTS = ROOT / "tests" / "apps"
DOCUMENTS = {
    "brands": ("000", "compile jobs and ingestion"),
    "brief": ("001", "execution of scheduled jobs"),
    "syncs": ("002", "orchestration of Airbyte syncs"),
    "prices": ("003", "workers that scrape prices"),
    "documents": ("004", "downloads and idempotency"),
}
"""The application of each document, its number, and what it is about."""
LATER = ("the HTTP API", "Django", "deployment files")
"""What a missing line may wait for."""
REFUSALS = (AssertionError, pytest.fail.Exception, ImportError, AttributeError)
"""How the check of a line that does not hold ends; any other error is a mistake of the check."""
EXPECTED = {"as stated", "not so", "not checked"}
"""Ends of a check that are as the list says; what needs a server is not checked where there is none."""
HEAD = """\
# The documents, line by line

Five teams wrote down what they needed, and Haulwright has an application for each. These are the statements of their
documents in our words, with the line they stand on, and what became of each. Every one is checked by a test on both
databases where a database is involved; `make seeds` runs them and prints this list with its results. A line that
*differs* says why and where a user is told; a line that is *missing* says what it waits for. The tests hold the list to
that as well: a line that begins to work turns them red.
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One statement of a document."""

    application: str
    at: str
    """Where it stands: a line, or the first and the last."""
    text: str
    """What is stated, in our words."""
    differs: str | None = None
    """Why it is otherwise here."""
    page: str | None = None
    """The page and heading of docs/ that tell a user so."""
    missing: str | None = None
    """What it waits for."""
    on: str | None = None
    """The database that it differs on, where it holds on the other."""

    @property
    def verdict(self) -> str:
        """What became of it."""
        return "differs" if self.differs else "missing" if self.missing else "works"

    @property
    def order(self) -> tuple[str, int, str]:
        """Its place in the list."""
        return DOCUMENTS[self.application][0], int(self.at.partition("-")[0]), self.text


def lines_of(path: Path, marks: Iterable[pytest.Mark]) -> list[Line]:
    """The statements that a test of an application checks."""
    application = path.parent.name.partition("_")[0]
    return [Line(application, *mark.args, **mark.kwargs) for mark in marks if mark.name == "line"]


def refused_on(lines: list[Line], database: str | None) -> str | None:
    """Why a test must fail on a database, or None where it must pass."""
    verdicts = {line.differs or line.missing if line.on in {None, database} else None for line in lines}
    if len({verdict is None for verdict in verdicts}) > 1:
        message = f"One test checks lines that hold and lines that do not: {', '.join(line.at for line in lines)}."
        raise pytest.UsageError(message)
    return "; ".join(sorted(verdict for verdict in verdicts if verdict)) or None


def read_lines() -> list[Line]:
    """Every statement of every document, in their order."""
    sys.path[:0] = [] if str(ROOT) in sys.path else [str(ROOT)]
    return sorted({line for path in _files() for line in _lines_in(path)}, key=lambda line: line.order)


def _files() -> list[Path]:
    return [path for path in sorted(TESTS.glob("*/test_*.py")) if "mark.line" in path.read_text("utf-8")]


def _lines_in(path: Path) -> Iterator[Line]:
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for name, test in inspect.getmembers(module, inspect.isfunction):
        if name.startswith("test_"):
            yield from lines_of(path, _marks(test))


def _marks(test: Any) -> Iterator[pytest.Mark]:
    """The marks of a test and of its parameters."""
    for mark in getattr(test, "pytestmark", []):
        yield mark
        if mark.name == "parametrize":
            for case in mark.args[1]:
                for each in getattr(case, "marks", ()):
                    yield each if isinstance(each, pytest.Mark) else each.mark


def page(lines: list[Line]) -> str:
    """The whole page."""
    parts = [HEAD, _totals(lines)]
    for application, (number, about) in DOCUMENTS.items():
        rows = [_row(line) for line in lines if line.application == application]
        title = f"## Document {number}: {about}\n\nSee [{application}](../applications/{application}.md).\n"
        parts.append("\n".join([title, "| line | statement | here |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _totals(lines: list[Line]) -> str:
    rows = ["| document | lines | work | differ | missing |", "|---|---|---|---|---|"]
    for application, (number, about) in DOCUMENTS.items():
        verdicts = [line.verdict for line in lines if line.application == application]
        counts = (verdicts.count(word) for word in ("works", "differs", "missing"))
        rows.append(f"| {number} {about} | {len(verdicts)} | {' | '.join(map(str, counts))} |")
    return "\n".join([*rows, ""])


def _row(line: Line) -> str:
    where = {"sqlite": " on SQLite", "postgres": " on PostgreSQL", None: ""}[line.on]
    here = {
        "works": "works",
        "differs": f"differs{where}: {line.differs} ([page](../{line.page}))",
        "missing": f"missing{where}: needs {line.missing}",
    }[line.verdict]
    return f"| {line.at} | {line.text.replace('|', chr(92) + '|')} | {here.replace('|', chr(92) + '|')} |"


class Results:
    """What the tests of the lines ended with, as pytest reports them from every process."""

    def __init__(self) -> None:
        self.outcomes: dict[Line, dict[str, str]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of each line on each database."""
        if report.when == "call" or not report.passed:
            for name, value in report.user_properties:
                if name == "line" and isinstance(value, list | tuple):
                    fields, database = value
                    self._keep(Line(**fields), database or "", report)

    def _keep(self, line: Line, database: str, report: pytest.TestReport) -> None:
        if self.outcomes[line].get(database) in EXPECTED | {None}:
            self.outcomes[line][database] = _outcome(report)

    def table(self) -> str:
        """One result a line, for each document, and the totals."""
        rows = []
        for application, (number, about) in DOCUMENTS.items():
            lines = sorted((line for line in self.outcomes if line.application == application), key=lambda at: at.order)
            rows += ["", f"{number} {application}: {about}"]
            rows += [self._told(line) for line in lines]
            counts = (
                f"{[line.verdict for line in lines].count(word)} {word}" for word in ("works", "differs", "missing")
            )
            rows.append(f"  {len(lines)} lines: {', '.join(counts)}")
        return "\n".join(rows)

    def _told(self, line: Line) -> str:
        why = f" ({line.differs}, {line.page})" if line.differs else f" ({line.missing})" if line.missing else ""
        where = f" on {line.on}" if line.on else ""
        wrong = ", ".join(
            f"{database} {outcome}".strip()
            for database, outcome in sorted(self.outcomes[line].items())
            if outcome not in EXPECTED
        )
        return f"  {line.at:>9}  {line.verdict:8}{where} {line.text}{why}{f'  <== {wrong}' if wrong else ''}"


def _outcome(report: pytest.TestReport) -> str:
    """How the check of a line ended, in words."""
    if hasattr(report, "wasxfail"):
        return "not so"
    if report.failed:
        return "WORKS NOW" if "XPASS(strict)" in str(report.longrepr) else "FAILED"
    return "as stated" if report.passed else "not checked"


def run(arguments: list[str]) -> int:
    """Run the tests of all lines, print a result for each, and return the exit code of pytest."""
    results = Results()
    files = [str(path) for path in _files()]
    options = ["-m", "line", "-n", "2", "--dist", "loadgroup", "-r", "", "--no-header", *arguments]
    code = pytest.main([*files, *options], plugins=[results])
    print(results.table())
    return int(code)


def main(arguments: list[str]) -> int:
    """Write or check the page, or run everything."""
    if arguments[:1] == ["--write"]:
        PAGE.write_text(page(read_lines()), "utf-8")
        return 0
    if arguments[:1] == ["--check"]:
        return 0 if PAGE.is_file() and PAGE.read_text("utf-8") == page(read_lines()) else 1
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

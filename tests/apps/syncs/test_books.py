"""The two books of syncs say the same in two dialects, and every statement can be run."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from haulwright.stores.books import book
from haulwright.stores.sqlite.connection import with_table
from tests.apps.syncs.scenes import PACKAGE

NOUNS = sorted(entry.name.removesuffix(".sql") for entry in (files(PACKAGE) / "sqlite" / "books").iterdir())
_PARAMETER = {"sqlite": re.compile(r"(?:(?<![:\w]):|\btold\.)([a-z]\w*)"), "postgres": re.compile(r"%\((\w+)\)s")}


def parameters(dialect, entry):
    return {name for statement in entry for name in _PARAMETER[dialect].findall(statement)}


def test_both_dialects_have_the_same_books():
    postgres = files(PACKAGE) / "postgres" / "books"

    assert sorted(entry.name.removesuffix(".sql") for entry in postgres.iterdir()) == NOUNS


@pytest.mark.parametrize("noun", NOUNS)
def test_a_book_has_the_same_entries_in_both_dialects(noun):
    sqlite, postgres = (book(PACKAGE, dialect, noun) for dialect in ("sqlite", "postgres"))

    assert list(sqlite) == list(postgres)
    assert all(parameters("sqlite", sqlite[name]) <= parameters("postgres", postgres[name]) for name in sqlite)


@pytest.mark.parametrize("noun", NOUNS)
def test_every_statement_can_be_prepared_as_it_stands(world, noun):
    dialect = world.bench.store.database.dialect
    for entry in book(PACKAGE, dialect, noun).values():
        for statement in entry:
            names = parameters(dialect, [statement])
            batched = dialect == "sqlite" and "told" in statement
            known = tuple(sorted(names | ({"tenant", "connector_id"} if batched else set())))
            text = with_table(statement, known, known) if batched else statement
            unset = {**dict.fromkeys(known), "told": None}
            world.bench.store.database.read(lambda c, s=text, p=unset: c.execute(f"explain {s}", p))


def test_entries_that_nobody_reads_are_not_kept():
    folder = Path(str(files(PACKAGE)))
    code = "".join(path.read_text() for path in folder.glob("*.py"))
    named = {f"{noun}.{name}" for noun in NOUNS for name in book(PACKAGE, "sqlite", noun)}

    unread = [entry for entry in named if f'"{entry}"' not in code and not entry.startswith("stats.")]

    assert unread == []


def test_time_enters_by_one_parameter():
    for dialect in ("sqlite", "postgres"):
        text = "".join((files(PACKAGE) / dialect / "books" / f"{noun}.sql").read_text() for noun in NOUNS)
        bare = re.sub(r"^\s*--.*$", "", text, flags=re.MULTILINE).lower()
        assert not re.search(r"current_timestamp|\bnow\(\)|clock_timestamp|strftime|datetime\(|unixepoch", bare)

"""The two books say the same in two dialects: the same names, the same parameters."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from haulwright.stores.books import book
from haulwright.stores.sqlite.connection import with_table
from tests.stores.scenes import START

NOUNS = sorted(entry.name.removesuffix(".sql") for entry in (files("haulwright.stores") / "sqlite" / "books").iterdir())
_PARAMETER = {"sqlite": re.compile(r"(?:(?<![:\w]):|\binput\.)([a-z]\w*)"), "postgres": re.compile(r"%\((\w+)\)s")}
"""On SQLite the arrays of a batch are the columns of a table."""
ON_POSTGRES_ALONE = {"scan_tenants_after", "claim_single_tenant"}
"""SQLite leaves no dead entries that a walk would have to step over, and makes no trips that could be saved."""
IN_ONE_STATEMENT = {"batch", "bytes", "gated", "notify", "past_tenant", "past_rank", "past_run_at", "past_id"}
"""SQLite claims pair by pair and counts the batch itself, in a transaction that asks the gates too; it has no bell, and
no dead entries to step over."""


def parameters(dialect, entry):
    return {name for statement in entry for name in _PARAMETER[dialect].findall(statement)}


def test_both_dialects_have_the_same_books():
    postgres = files("haulwright.stores") / "postgres" / "books"

    assert sorted(entry.name.removesuffix(".sql") for entry in postgres.iterdir()) == NOUNS


@pytest.mark.parametrize("noun", NOUNS)
def test_a_book_has_the_same_entries_with_the_same_parameters_in_both_dialects(noun):
    sqlite, postgres = (book("haulwright.stores", dialect, noun) for dialect in ("sqlite", "postgres"))

    assert list(sqlite) == [name for name in postgres if name not in ON_POSTGRES_ALONE]
    differing = {
        name: found
        for name in sqlite
        if (found := (parameters("sqlite", sqlite[name]) ^ parameters("postgres", postgres[name])) - IN_ONE_STATEMENT)
    }
    assert differing == {}


@pytest.mark.parametrize("noun", NOUNS)
def test_every_statement_can_be_prepared_as_it_stands(store, noun):
    """With nothing but NULLs: the types of the parameters are known without their values."""
    dialect = store.database.dialect
    for name, entry in book("haulwright.stores", dialect, noun).items():
        for statement in entry:
            if statement.startswith("copy"):
                continue  # a command for rows, which has no plan
            names = parameters(dialect, [statement])
            text = (
                with_table(statement, tuple(sorted(names)), tuple(sorted(names)))
                if dialect == "sqlite" and "input" in statement
                else statement
            )
            unset = [None] * (text.count("?") if dialect == "sqlite" else 0) or {**dict.fromkeys(names), "input": None}
            store.database.read(lambda c, s=text, p=unset: c.execute(f"explain {s}", p)), name


def test_entries_that_nobody_reads_are_not_kept():
    """An entry is read by its name, in the file of its noun or of a neighbour."""
    code = "".join(path.read_text() for path in Path(str(files("haulwright.stores"))).rglob("*.py"))
    unread = [
        (noun, name) for noun in NOUNS for name in book("haulwright.stores", "sqlite", noun) if f'"{name}"' not in code
    ]

    assert unread == []


def test_time_enters_by_one_parameter(store):
    """No statement of a book asks the database for the time in any other way."""
    for dialect in ("sqlite", "postgres"):
        text = "".join((files("haulwright.stores") / dialect / "books" / f"{noun}.sql").read_text() for noun in NOUNS)
        bare = re.sub(r"^\s*--.*$", "", text, flags=re.MULTILINE).lower()
        assert not re.search(r"current_timestamp|\bnow\(\)|clock_timestamp|strftime|datetime\(|unixepoch", bare)
    assert store.now() == START

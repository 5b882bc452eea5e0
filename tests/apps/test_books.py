"""The books of every application say the same on both databases, each statement can be run, and none stands twice."""

from __future__ import annotations

import re
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from haulwright.discovery import installed_applications
from haulwright.errors import InvalidValue
from haulwright.stores.books import SHARED, book
from haulwright.stores.connect import open_database
from haulwright.stores.sqlite.connection import TABLE, with_table

DIALECTS = ("sqlite", "postgres")
PACKAGES = [spec.package for spec in installed_applications().specs.values()]
_PARAMETER = {
    "sqlite": re.compile(rf"(?:(?<![:\w]):|\b{TABLE}\.)([a-z]\w*)"),
    "postgres": re.compile(r"%\((\w+)\)s"),
}
"""On SQLite the arrays of a batch are the columns of a table."""
READ_IN_A_LOOP = {"stats", "removal", "disconnection"}
"""Their entries are asked for one after the other, by names that the code makes."""
_CLOCKS = re.compile(r"current_timestamp|\bnow\(\)|clock_timestamp|strftime|datetime\(|unixepoch")


@pytest.fixture(params=PACKAGES, ids=lambda package: package.rpartition(".")[2])
def package(request):
    return request.param


def pages(package, folder):
    """The texts of the books in one folder, by noun."""
    books = files(package) / folder / "books"
    paths = books.iterdir() if books.is_dir() else ()
    return {path.name.removesuffix(".sql"): path.read_text("utf-8") for path in paths}


def names_of(package):
    """Every entry as it is asked for: its noun and its name."""
    nouns = sorted(pages(package, SHARED).keys() | pages(package, "sqlite").keys())
    return [(noun, name) for noun in nouns for name in book(package, "sqlite", noun)]


def parameters(dialect, statements):
    return {name for statement in statements for name in _PARAMETER[dialect].findall(statement)}


def body_of(text, name):
    """The words of an entry in the text of a book, without its comments."""
    bodies = re.findall(rf"^-- name: {name}$(.*?)(?=^-- name: |\Z)", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"^\s*--.*$", "", "".join(bodies), flags=re.MULTILINE).split()


def is_batch(database, statement):
    return database.dialect == "sqlite" and f"from {TABLE}" in statement


def test_both_databases_have_the_same_entries_with_the_same_parameters(package):
    assert pages(package, "sqlite").keys() == pages(package, "postgres").keys()
    for noun in {noun for noun, _ in names_of(package)}:
        sqlite, postgres = (book(package, dialect, noun) for dialect in DIALECTS)
        assert list(sqlite) == list(postgres)
        for name, entry in sqlite.items():
            assert parameters("sqlite", entry) <= parameters("postgres", postgres[name]), (noun, name)


def test_an_entry_that_is_the_same_on_both_databases_stands_once(package):
    for noun, name in names_of(package):
        bare = [body_of(pages(package, dialect).get(noun, ""), name) for dialect in DIALECTS]
        assert bare[0] != bare[1] or not bare[0], (noun, name)


def test_every_statement_can_be_prepared_as_it_stands(package, made_database_url):
    """With nothing but NULLs: the types of the parameters are known without their values."""
    with closing(open_database(made_database_url)) as database:
        for noun, name in names_of(package):
            for statement in book(package, database.dialect, noun)[name]:
                names = tuple(sorted(parameters("postgres", book(package, "postgres", noun)[name])))
                text = with_table(statement, names, names) if is_batch(database, statement) else statement
                database.read(lambda c, s=text, n=names: c.execute(f"explain {s}", {**dict.fromkeys(n), TABLE: None}))


def test_entries_that_nobody_reads_are_not_kept(package):
    code = "".join(path.read_text() for path in Path(str(files(package))).rglob("*.py"))
    entries = [f"{noun}.{name}" for noun, name in names_of(package) if noun not in READ_IN_A_LOOP]

    assert [entry for entry in entries if f'"{entry}"' not in code] == []


def test_time_enters_by_one_parameter(package):
    for folder in (SHARED, *DIALECTS):
        text = re.sub(r"^\s*--.*$", "", "".join(pages(package, folder).values()), flags=re.MULTILINE)
        assert not _CLOCKS.search(text.lower()), folder


@pytest.fixture
def weather(tmp_path, monkeypatch):
    """A package whose books a test writes."""
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / f"weather_{tmp_path.name}"
    package.mkdir()
    (package / "__init__.py").touch()

    def write(**texts):
        for folder, text in texts.items():
            (package / folder / "books").mkdir(parents=True)
            (package / folder / "books" / "readings.sql").write_text(text)
        return package.name

    return write


def test_a_shared_entry_is_read_for_both_databases_beside_their_own(weather):
    package = weather(
        shared="-- name: add\ninsert into r values (:station, haulwright_now(:now));\n",
        sqlite="-- name: drop\ndelete from r where rowid = :id;\n",
        postgres="-- name: drop\ndelete from r where ctid = :id;\n",
    )

    assert book(package, "sqlite", "readings") == {
        "add": ("insert into r values (:station, :now)",),
        "drop": ("delete from r where rowid = :id",),
    }
    assert book(package, "postgres", "readings") == {
        "add": ("insert into r values (%(station)s, haulwright_now(%(now)s))",),
        "drop": ("delete from r where ctid = %(id)s",),
    }


@pytest.mark.parametrize("folder", [SHARED, "sqlite"])
def test_an_entry_that_stands_twice_is_refused(weather, folder):
    twice = {SHARED: "-- name: add\nselect 1;\n", "sqlite": "-- name: add\nselect 2;\n"}
    package = weather(**twice) if folder == SHARED else weather(sqlite=twice["sqlite"] * 2)

    with pytest.raises(InvalidValue, match=r"'readings\.add' is twice in the books") as refusal:
        book(package, "sqlite", "readings")

    assert refusal.value.hint == "It stands in shared/, or once in the book of each database."


def test_a_book_that_is_not_there_is_named(weather):
    with pytest.raises(FileNotFoundError, match=r"sqlite.*readings\.sql"):
        book(weather(), "sqlite", "readings")

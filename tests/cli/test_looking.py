"""Commands that look make no database, migrate none, and leave somebody else's file as it is."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest

from tests.cli.conftest import SHOP

LOOKS = [
    ("job", "list"),
    ("job", "show", "01890000-0000-7000-8000-000000000000"),
    ("dead", "list"),
    ("queue", "list"),
    ("event", "list"),
    ("schedule", "list"),
    ("source", "list"),
    ("effect", "list", "01890000-0000-7000-8000-000000000000"),
    ("workers",),
    ("top", "--once"),
    ("db", "views"),
    ("brand", "list"),
    ("brief", "list"),
    ("doc", "search", "harbour"),
    ("doc", "status"),
    ("price", "list"),
    ("price", "source"),
    ("sync", "list", "--tenant", "acme"),
    ("sync", "plan", "--tenant", "acme"),
]


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_in_the_wrong_folder_it_says_that_there_is_no_database_and_makes_none(on_file, tmp_path, words):
    answer = on_file(*words)

    assert answer.code == 3, answer.out + answer.err
    assert f"There is no Haulwright database at sqlite:///{tmp_path}/haulwright.db" in answer.err
    assert "db migrate" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_a_file_of_somebody_else_is_refused_and_stays_as_it_is(on_file, tmp_path, words, journal):
    file = tmp_path / "haulwright.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"pragma journal_mode = {journal}")
        connection.execute("create table customers (name text)")
        connection.execute("insert into customers values ('Ann')")
        connection.commit()
    before = hashlib.sha256(file.read_bytes()).hexdigest()

    answer = on_file(*words)

    assert (answer.code, "There is no Haulwright database" in answer.err) == (3, True)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["haulwright.db", "place"]


def test_a_file_that_its_owner_has_open_is_left_as_it_is_too(on_file, tmp_path):
    file = tmp_path / "haulwright.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table customers (name text)")
        connection.commit()
        before = (file.read_bytes(), (tmp_path / "haulwright.db-wal").read_bytes())

        assert on_file("job", "list").code == 3
        assert (file.read_bytes(), (tmp_path / "haulwright.db-wal").read_bytes()) == before


@pytest.mark.parametrize("words", [("price", "list"), ("brief", "list"), ("doc", "status")], ids=" ".join)
def test_tables_that_an_application_lacks_are_not_made_by_a_look(on_file, tmp_path, words):
    on_file("db", "migrate")

    answer = on_file(*words)

    assert (answer.code, "db migrate" in answer.err) == (69, True)
    with closing(sqlite3.connect(tmp_path / "haulwright.db")) as connection:
        names = [name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")]
    assert all(name.startswith(("haulwright_", "sqlite_")) for name in names)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "-A", SHOP, "price", "sku=A1"),
        ("worker", "-A", SHOP, "--until-empty"),
        ("db", "migrate"),
        ("doc", "add", "https://library.example/report.pdf"),
    ],
    ids=" ".join,
)
def test_what_begins_something_makes_the_database_as_ever(on_file, tmp_path, words):
    answer = on_file(*words)

    assert answer.code == 0, answer.err
    assert (tmp_path / "haulwright.db").exists()

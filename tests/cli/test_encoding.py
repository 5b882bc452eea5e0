"""A server that was initialised without a locale keeps text as bytes; ours is UTF-8 all the same."""

from __future__ import annotations

import os
from contextlib import closing

import psycopg
import pytest

from haulwright import Haulwright
from haulwright.errors import Refused
from tests.support.binaries import PostgresUnavailable
from tests.support.postgres import start

pytestmark = pytest.mark.postgres
TEXT = "Zürich, 潮汐, 🚢"


@pytest.fixture(scope="module")
def ascii_url():
    """A server of its own, as `initdb` makes it without a locale."""
    try:
        server = start(encoding="SQL_ASCII")
    except PostgresUnavailable as reason:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(f"PostgreSQL is required here: {reason}")
        pytest.skip(f"no PostgreSQL: {reason}")
    with server:
        yield server.url()


def test_migrate_and_doctor_name_the_encoding(bare, ascii_url):
    migrated = bare("db", "migrate", "--database", ascii_url)
    again = bare("db", "migrate", "--database", ascii_url, "--json")
    doctor = bare("doctor", "--database", ascii_url, "--json")

    assert (migrated.code, "keeps text in SQL_ASCII" in migrated.err) == (0, True)
    assert again.json["encoding"] == "SQL_ASCII"
    findings = {finding["check"]: finding for finding in doctor.json["findings"]}
    assert "encoding SQL_ASCII" in findings["database"]["sentence"]
    assert findings["encoding"]["level"] == "warn"


def test_an_encoding_that_has_no_place_for_most_characters_is_refused_by_name(bare, ascii_url):
    with psycopg.connect(ascii_url, autocommit=True) as connection:
        connection.execute("create database western encoding 'LATIN1' template template0")

    answer = bare("db", "migrate", "--database", ascii_url.replace("/postgres?", "/western?"))

    assert (answer.code, "keeps text in LATIN1" in answer.err) == (69, True)


def test_a_job_with_any_text_goes_there_and_comes_back(bare, ascii_url):
    bare("db", "migrate", "--database", ascii_url)
    with closing(Haulwright(ascii_url)) as app:

        @app.task()
        def echo(text: str) -> str:
            return text

        handle = echo.enqueue(TEXT)
        app.run_worker(until_empty=True)

        assert handle.result(0) == TEXT
    assert bare("db", "status", "--database", ascii_url, "--json").json["current"] is True


def test_a_connection_of_the_callers_that_gives_text_as_bytes_is_refused_by_name(bare, ascii_url):
    bare("db", "migrate", "--database", ascii_url)
    with closing(Haulwright(ascii_url)) as app, psycopg.connect(ascii_url) as connection:

        @app.task()
        def echo(text: str) -> str:
            return text

        with pytest.raises(Refused, match="SQL_ASCII"):
            echo.using(connection=connection).enqueue(TEXT)
    with closing(Haulwright(ascii_url)) as app, psycopg.connect(ascii_url, client_encoding="UTF8") as connection:
        app.task()(echo.function)

        assert app.find("echo").using(connection=connection).enqueue(TEXT).created

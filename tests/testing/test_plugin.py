"""The plugin is in every test run of its environment, so it must be light; its databases are the test's alone."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest

from haulwright.errors import InvalidValue
from haulwright.testing.databases import fresh_database

SCHEMAS = "select count(*) from pg_namespace where nspname like 'haulwright_test_%'"


def test_importing_the_plugin_imports_nothing_of_the_engine():
    code = (
        "import sys, pytest; before = set(sys.modules); import haulwright.testing.plugin; "
        "print(*sorted({m for m in set(sys.modules) - before if not m.startswith('haulwright.testing')}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert set(found) <= {"haulwright", "haulwright.__about__"}


def test_a_file_of_its_own_whatever_its_folder_is_called(tmp_path):
    folder = tmp_path / "a folder with 100% spaces"

    with fresh_database(None, folder) as url:
        assert url.startswith("sqlite:///")
        assert " " not in url


def test_a_database_that_is_no_postgres_server_is_refused_with_the_reason(tmp_path):
    with (
        pytest.raises(InvalidValue, match="is not the address of a PostgreSQL server"),
        fresh_database("sqlite:///x.db", tmp_path),
    ):
        pass


@pytest.mark.postgres
def test_a_schema_is_gone_after_the_test_even_a_failed_one(tmp_path, postgres_url):
    def failing_test() -> None:
        with fresh_database(postgres_url, tmp_path) as url, psycopg.connect(url) as inside:
            inside.execute("create table mine ()")
            inside.commit()
            assert outside.execute(SCHEMAS).fetchone() == (1,)
            raise LookupError

    with psycopg.connect(postgres_url, autocommit=True) as outside:
        with pytest.raises(LookupError):
            failing_test()
        assert outside.execute(SCHEMAS).fetchone() == (0,)

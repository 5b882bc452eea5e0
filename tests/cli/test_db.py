"""The schema and the soundness of a database."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest

from haulwright.engine.ids import new_id
from haulwright.stores import growth


@pytest.mark.proves("MG-01", "MG-03")
def test_migrate_tells_what_it_applied_and_applies_it_once(bare, empty_database_url):
    first = bare("db", "migrate", "--database", empty_database_url, "--json").json
    second = bare("db", "migrate", "--database", empty_database_url)

    assert [one["number"] for one in first["applied"]] == list(range(1, first["version"] + 1))
    assert (second.code, second.out) == (0, "The schema is current already.\n")


def test_status_says_how_far_the_schema_is_and_changes_nothing(bare, empty_database_url, tmp_path):
    before = bare("db", "status", "--database", empty_database_url, "--json").json
    assert not (tmp_path / "haulwright.db").exists()
    bare("db", "migrate", "--database", empty_database_url)
    after = bare("db", "status", "--database", empty_database_url, "--json").json

    assert (before["applied"], before["current"]) == (0, False)
    assert (after["applied"], after["current"]) == (after["known"], True)


def test_status_says_how_large_the_database_is_and_what_retention_will_remove(haulwright, dead, clock):
    dead()
    clock.advance(91 * 86_400)
    kept = {row["kind"]: row for row in haulwright("db", "status", "--json").json["retention"]}
    answer = haulwright("db", "status")

    assert (kept["dead jobs"]["due"], kept["dead jobs"]["more"], kept["dead jobs"]["setting"]) == (
        1,
        False,
        "keep_dead_seconds",
    )
    assert kept["succeeded jobs"]["due"] == 0
    assert haulwright("db", "status", "--json").json["size_bytes"] > 0
    assert "in all" in answer.out
    assert "keep_events_seconds" in answer.out


def test_what_is_due_is_counted_up_to_a_limit(haulwright, dead, clock, monkeypatch):
    monkeypatch.setattr(growth, "DUE_LIMIT", 2)
    for _ in range(3):
        dead()
    clock.advance(91 * 86_400)

    assert "2 or more" in haulwright("db", "status").out


@pytest.mark.proves("MG-02")
def test_the_printed_schema_is_what_psql_can_run(bare, postgres_url):
    sql = bare("db", "migrate", "--sql", "--database", postgres_url).out
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql)

    assert bare("db", "status", "--database", postgres_url, "--json").json["current"] is True


def test_the_printed_schema_runs_on_sqlite_too(bare, sqlite_url, tmp_path):
    connection = sqlite3.connect(tmp_path / "haulwright.db")
    connection.executescript(bare("db", "migrate", "--sql", "--dialect", "sqlite").out)
    connection.close()

    assert bare("job", "list", "--database", sqlite_url).code == 0
    assert bare("db", "status", "--database", sqlite_url, "--json").json["current"] is True


@pytest.mark.proves("MG-05")
def test_a_sound_database_verifies(haulwright, dead):
    dead()

    answer = haulwright("db", "verify", "--json")

    assert (answer.code, answer.json["problems"]) == (0, 0)
    assert {one["check"] for one in answer.json["findings"]} >= {
        "schema",
        "file",
        "leases",
        "permits",
        "slots",
        "effects",
    }


@pytest.mark.parametrize(
    ("check", "sql"),
    [
        (
            "permits",
            """insert into haulwright_permits (key, number, job_id, fence, worker_id, taken_at)
            values ('k', 1, '{id}', 1, '{id}', 0)""",
        ),
        (
            "slots",
            """insert into haulwright_slots (schedule, scheduled_for, disposition, revision, actor, opened_at)
            values ('s', 1, 'fired', 1, 'x', 0)""",
        ),
        (
            "blobs",
            """insert into haulwright_effects
            (tenant, key, job_key, job_id, name, kind, state, fence, worker_id, stored, started_at)
            values ('t', 'k', 'k', '{id}', 'n', 'effect', 'done', 1, '{id}', 'blob', 0)""",
        ),
    ],
)
def test_what_does_not_agree_is_found_and_ends_with_5(haulwright, store, check, sql):
    store.database.transact(lambda connection: connection.execute(sql.format(id=new_id())))

    answer = haulwright("db", "verify", "--json")

    assert (answer.code, answer.json["problems"]) == (5, 1)
    assert [one["check"] for one in answer.json["findings"] if one["level"] == "problem"] == [check]


def test_an_effect_that_nobody_will_finish_is_told(haulwright, store):
    columns = "tenant, key, job_key, job_id, name, kind, state, fence, worker_id, started_at"
    row = f"('t', 'k', 'k', '{new_id()}', 'pay', 'effect', 'intent', 1, '{new_id()}', 0)"
    sql = f"insert into haulwright_effects ({columns}) values {row}"  # noqa: S608 - made here
    store.database.transact(lambda connection: connection.execute(sql))

    answer = haulwright("db", "verify")

    assert answer.code == 0
    assert "1 effects were begun and never settled" in answer.out


def test_damaged_pages_are_found(on_file, tmp_path):
    file = tmp_path / "haulwright.db"
    on_file("db", "migrate")
    body = bytearray(file.read_bytes())
    body[4096 * 3 : 4096 * 3 + 200] = b"\xff" * 200
    file.write_bytes(body)

    answer = on_file("db", "verify")

    assert answer.code in {5, 69}
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("words", [["db", "status"], ["db", "verify"], ["doctor"]])
def test_a_schema_that_is_newer_than_this_code_is_told(haulwright, store, words):
    row = "('haulwright.stores', 99, 'future', 'x')"
    store.database.transact(
        lambda c: c.execute(f"insert into haulwright_migrations (chain, number, name, digest) values {row}")  # noqa: S608
    )

    answer = haulwright(*words)

    assert answer.code in {5, 69}
    assert "Upgrade Haulwright" in answer.out + answer.err
    assert haulwright("job", "list").code == 69

"""Migrations only add: what a worker of the version before writes stays valid, so that it can finish what it holds."""

from __future__ import annotations

import re

import pytest

from haulwright.discovery import installed_applications
from haulwright.stores.migrations import ENGINE, Migration, chain_of

COMMENT = re.compile(r"--[^\n]*")
MADE = re.compile(r"create table (?:if not exists )?(\w+)")
TAKES_AWAY = {
    "it takes something away": re.compile(r"\bdrop (table|column|view|function)\b"),
    "it renames": re.compile(r"\brename\b"),
    "it changes a column": re.compile(r"\balter column \w+ (set not null|type|set data type)"),
    "it adds a column that an older version leaves out": re.compile(r"\badd column (?!.*\bdefault\b).*\bnot null\b"),
}
NARROWS = {
    "it adds a constraint": re.compile(r"\balter table (?P<table>\w+) add (?:constraint|check|unique|foreign)\b"),
    "it makes rows unique": re.compile(r"\bcreate unique index (?:if not exists )?\w+ on (?P<table>\w+)"),
}
UNDER_THE_SAME_NAMES = {"haulwright.stores postgres 0010_partitions"}
"""Tables become partitions of new ones with their names and columns (decision 35); `proof/upgrades` shows it holds."""


def violations(sql: str) -> list[str]:
    """Why an older version might not be able to write any more; empty where it is."""
    statements = [" ".join(part.split()).lower() for part in COMMENT.sub("", sql).split(";")]
    new = {table for statement in statements for table in MADE.findall(statement)}
    wrong = [why for why, pattern in TAKES_AWAY.items() if any(pattern.search(each) for each in statements)]
    for why, pattern in NARROWS.items():
        tables = {match["table"] for each in statements if (match := pattern.search(each))}
        wrong += [why] if tables - new else []
    return wrong


def later_migrations() -> list[tuple[str, str, Migration]]:
    """Every file after the first of a chain: there is no older version of that."""
    packages = [ENGINE, *(spec.package for spec in installed_applications().specs.values())]
    return [
        (package, dialect, migration)
        for package in packages
        for dialect in ("sqlite", "postgres")
        for migration in chain_of(package, dialect)[1:]
    ]


def test_every_migration_leaves_what_older_workers_write_valid():
    wrong = {
        name: violations(m.sql)
        for p, d, m in later_migrations()
        if (name := f"{p} {d} {m.number:04}_{m.name}") not in UNDER_THE_SAME_NAMES
    }

    assert {name: why for name, why in wrong.items() if why} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "create table t (id text not null);\ncreate unique index t_id on t (id);",
        "alter table haulwright_jobs add column note text;",
        "alter table haulwright_jobs add column rank integer not null default 0;",
        "create index jobs_rank on haulwright_jobs (rank); -- drop table nothing",
    ],
)
def test_what_adds_is_allowed(sql):
    assert violations(sql) == []


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("drop table haulwright_keys", "takes something away"),
        ("alter table haulwright_jobs drop column tags", "takes something away"),
        ("alter table haulwright_jobs rename column tags to labels", "renames"),
        ("alter table haulwright_jobs alter column tags set not null", "changes a column"),
        ("alter table haulwright_jobs add column rank integer not null", "leaves out"),
        ("alter table haulwright_jobs add constraint c check (rank > 0)", "a constraint"),
        ("create unique index jobs_rank on haulwright_jobs (rank)", "unique"),
    ],
)
def test_what_an_older_worker_could_stumble_over_is_not(sql, why):
    assert [why in violation for violation in violations(sql)] == [True]

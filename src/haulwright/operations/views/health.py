"""The JSON of findings, of the schema, and of settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from haulwright.operations.views.growth import RetentionView, TableSizeView, retention_view, table_size_view

if TYPE_CHECKING:
    from haulwright.operations.backups import Backup
    from haulwright.operations.findings import Finding
    from haulwright.operations.growth import DatabaseGrowth
    from haulwright.operations.schema import ApplicationViewName, ChainStatus, MigrationRun
    from haulwright.settings import Setting
    from haulwright.stores.view_names import ViewName


class FindingView(TypedDict):
    """One thing that was looked at."""

    check: str
    level: str
    sentence: str
    next_step: str


class FindingsView(TypedDict):
    """Everything that was looked at, and how much of it does not work."""

    findings: list[FindingView]
    problems: int


class SchemaView(TypedDict):
    """How far all chains of migrations have come together, how large the database is, and what is due to go."""

    applied: int
    known: int
    current: bool
    size_bytes: int | None
    tables: list[TableSizeView]
    retention: list[RetentionView]


class MigrationView(TypedDict):
    """A migration that was applied."""

    schema: str
    number: int
    name: str


class NameLeftAlone(TypedDict):
    """A name that something of somebody else's has, and our view that can be read instead."""

    name: str
    kind: str | None
    view: str


class MigrationRunView(TypedDict):
    """What a run of the migrations did, and which names it left to their holders."""

    version: int
    applied: list[MigrationView]
    encoding: str
    left_alone: list[NameLeftAlone]


class ViewNameView(TypedDict):
    """A name of a document for a view of ours: `taken` for it, `free`, or `foreign`."""

    application: str
    name: str
    view: str
    state: str
    kind: str | None


class ViewNamesView(TypedDict):
    """Every such name."""

    views: list[ViewNameView]


class SchemaScriptView(TypedDict):
    """The whole schema as a script for the shell of a database."""

    dialect: str
    sql: str


class BackupView(TypedDict):
    """A backup that was made."""

    path: str
    format: str
    size_bytes: int
    seconds: float
    contents: dict[str, int]
    restore: list[str]


class SettingView(TypedDict):
    """A setting, its value, and where the value came from. Passwords are not shown."""

    name: str
    value: Any
    origin: str
    owner: str
    meaning: str
    variables: list[str]


class SettingsView(TypedDict):
    """Every setting."""

    settings: list[SettingView]


def findings_view(findings: Sequence[Finding]) -> FindingsView:
    """Everything that was looked at."""
    return {
        "findings": [
            {
                "check": finding.check,
                "level": finding.level,
                "sentence": finding.sentence,
                "next_step": finding.next_step,
            }
            for finding in findings
        ],
        "problems": sum(finding.level == "problem" for finding in findings),
    }


def schema_view(chains: Sequence[ChainStatus], growth: DatabaseGrowth | None) -> SchemaView:
    """All chains together, and the size where the database is there and current."""
    applied, newest = sum(chain.applied for chain in chains), sum(chain.known for chain in chains)
    return {
        "applied": applied,
        "known": newest,
        "current": applied == newest,
        "size_bytes": None if growth is None else growth.size_bytes,
        "tables": [] if growth is None else [table_size_view(table) for table in growth.tables],
        "retention": [] if growth is None else [retention_view(row) for row in growth.retention],
    }


def chain_words(chain: ChainStatus) -> str:
    """How far a schema has come, for people."""
    return "current" if chain.current else "not there yet" if chain.applied == 0 else "behind"


def migration_run_view(run: MigrationRun) -> MigrationRunView:
    """What a run of the migrations did."""
    applied: list[MigrationView] = [
        {"schema": migration.schema, "number": migration.number, "name": migration.name} for migration in run.applied
    ]
    left_alone = [_left_alone(row) for row in run.left_alone]
    return {"version": run.version, "applied": applied, "encoding": run.encoding, "left_alone": left_alone}


def _left_alone(row: ViewName) -> NameLeftAlone:
    return {"name": row.name, "kind": row.kind, "view": row.view}


def view_names_view(rows: Sequence[ApplicationViewName]) -> ViewNamesView:
    """Every name of a document, and who has it."""
    return {
        "views": [
            {
                "application": row.application,
                "name": row.held.name,
                "view": row.held.view,
                "state": row.held.state,
                "kind": row.held.kind,
            }
            for row in rows
        ]
    }


def holder_words(row: ViewName) -> str:
    """Who has the name of a view, for people."""
    return f"a {row.kind} that is not ours" if row.state == "foreign" else row.state


def schema_script_view(dialect: str, sql: str) -> SchemaScriptView:
    """The whole schema as a script."""
    return {"dialect": dialect, "sql": sql}


def setting_view(setting: Setting) -> SettingView:
    """A setting."""
    return {
        "name": setting.figure.name,
        "value": setting.shown if setting.figure.kind is str else setting.value,
        "origin": setting.origin,
        "owner": setting.figure.owner,
        "meaning": setting.figure.meaning,
        "variables": list(setting.figure.variables),
    }


def settings_view(settings: Sequence[Setting]) -> SettingsView:
    """Every setting."""
    return {"settings": [setting_view(setting) for setting in settings]}


def backup_view(backup: Backup) -> BackupView:
    """The JSON of a backup."""
    file = backup.file
    return {
        "path": str(file.path),
        "format": file.format,
        "size_bytes": file.size_bytes,
        "seconds": round(backup.seconds, 3),
        "contents": {name.replace(" ", "_"): count for name, count in file.contents.items()},
        "restore": list(file.restore),
    }

"""What a tenant may see and write of each table, said to PostgreSQL itself: the rules of the second wall.

A table that has a tenant column shows the rows of the tenant whose request it is. What has none is said here for the
engine, and for a table of an application is nobody's, unless the line before it in its migration is `-- tenants: read`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from haulwright.engine.source import GATES
from haulwright.stores.migrations import ENGINE, Migration

TENANT: Final = "(select current_setting('haulwright.tenant', true))"
"""In a subselect, so that it is asked once for a statement and not for each row."""
ROLE: Final = "{role}"
"""What stands for the role in the statements."""
EVERY_RIGHT: Final = "select, insert, update, delete"
_TABLE: Final = re.compile(
    r"^(?:-- tenants: (read)\n)?create table (?:if not exists )?(\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL
)
_VIEW: Final = re.compile(r"^create (?:or replace )?view (\w+)", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^create (?:or replace )?function (\w+)", re.MULTILINE)
_COLUMN: Final = re.compile(r"^\s+(tenant|tenant_id)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WallRule:
    """What a tenant may do with the rows of one table, and which of them are there for it."""

    rights: str
    """Empty where it has none."""
    seen: str
    written: str = ""
    """Where it may write other rows than those that it sees."""

    def statements(self, table: str) -> str:
        """What puts the rule in force, whatever was before. Others than the role see what they saw."""
        wall = f"as restrictive to {ROLE} using ({self.seen}) with check ({self.written or self.seen})"
        lines = [
            f"alter table {table} enable row level security",
            f"drop policy if exists haulwright_open on {table}",
            f"create policy haulwright_open on {table} using (true) with check (true)",
            f"drop policy if exists haulwright_wall on {table}",
            f"create policy haulwright_wall on {table} {wall}",
            f"comment on policy haulwright_wall on {table} is '{self.digest}'",
            f"revoke all on {table} from {ROLE}",
            *([f"grant {self.rights} on {table} to {ROLE}"] if self.rights else []),
        ]
        return ";\n".join(lines) + ";\n"

    @property
    def digest(self) -> str:
        """By which a rule that is in force is known again."""
        return hashlib.sha256(f"1/{self.rights}/{self.seen}/{self.written}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class WallPlan:
    """All that a chain of migrations makes, and what of it is for tenants."""

    tables: dict[str, WallRule]
    views: list[str]
    functions: list[str]


_OF_JOB: Final = (
    "exists (select 1 from haulwright_jobs j where j.id = {column})"
    " or exists (select 1 from haulwright_history h where h.id = {column})"
)
"""The row of a job is there for its tenant, waiting or finished."""
_OWN_ACCOUNT: Final = "substr({column}, position('@' in {column}) + 1) = " + TENANT
_GATES: Final = ", ".join("'source:' || {column} || ':" + gate + "'" for gate in GATES)
_WAITED_FOR: Final = f"exists (select 1 from haulwright_jobs j where j.waiting_on = any(array[{_GATES}]))"  # noqa: S608 - constants
_OF_SOURCE: Final = f"position('@' in {{column}}) = 0 or {_OWN_ACCOUNT} or {_WAITED_FOR}"
"""A source that all share, one on an account of the tenant's own, and what one of its jobs waits for."""


def _about(column: str, condition: str) -> str:
    """A condition about a column, with its table: a name alone could be one of a table inside the condition."""
    return condition.format(column=column)


OWN: Final = f"tenant = {TENANT}"
NOBODYS: Final = WallRule("", "false")
SHARED: Final = WallRule("select", "true", "false")
ENGINE_RULES: Final = {
    "haulwright_jobs": WallRule(EVERY_RIGHT, OWN),
    "haulwright_history": WallRule("select, insert, update", OWN),
    "haulwright_keys": WallRule(EVERY_RIGHT, OWN),
    "haulwright_effects": WallRule("select, update, delete", OWN),
    "haulwright_blobs": WallRule("select", OWN),
    "haulwright_stages": WallRule("select", OWN),
    "haulwright_schedules": WallRule("select, insert, update", OWN),
    "haulwright_request_keys": WallRule("select, insert", OWN),
    # A source that a tenant's own code declares is told of in the name of the installation.
    "haulwright_events": WallRule("select, insert", OWN, f"{OWN} or (name = 'source.declared' and job_id is null)"),
    "haulwright_payloads": WallRule("select, insert", _about("haulwright_payloads.job_id", _OF_JOB)),
    "haulwright_joins": WallRule(
        "select, update, delete",
        " or ".join(_about(f"haulwright_joins.{end}_id", _OF_JOB) for end in ("child", "parent")),
    ),
    "haulwright_slots": WallRule(
        "select, insert, update",
        "exists (select 1 from haulwright_schedules s where s.name = haulwright_slots.schedule)",
    ),
    "haulwright_sources": WallRule(
        "select, insert, update",
        _about("haulwright_sources.key", _OF_SOURCE),
        _about("haulwright_sources.key", _OWN_ACCOUNT),
    ),
    "haulwright_traffic": WallRule("select", _about("haulwright_traffic.source", _OF_SOURCE), "false"),
    "haulwright_workers": SHARED,
    "haulwright_queues": SHARED,
    "haulwright_pauses": SHARED,
}
"""What is not here of the engine is nobody's: cached answers, tokens, permits, and what migrations note."""


def plan_of(package: str, chain: tuple[Migration, ...]) -> WallPlan:
    """The rules for what a chain of migrations makes."""
    text = "\n".join(migration.sql for migration in chain)
    tables = {name: _rule_of(package, name, body, mark) for mark, name, body in _TABLE.findall(text)}
    if package == ENGINE:
        tables["haulwright_migrations"] = NOBODYS
    return WallPlan(tables, list(dict.fromkeys(_VIEW.findall(text))), list(dict.fromkeys(_FUNCTION.findall(text))))


def _rule_of(package: str, name: str, body: str, mark: str) -> WallRule:
    if package == ENGINE:
        return ENGINE_RULES.get(name, NOBODYS)
    column = _COLUMN.search(body)
    if column is not None:
        return WallRule(EVERY_RIGHT, f"{column.group(1)} = {TENANT}")
    return SHARED if mark else NOBODYS

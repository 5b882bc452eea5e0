"""The names of views in the words of an application's document, beside whatever else is in the database.

An application makes its views under a prefix that is ours: `haulwright_v_job_runs`. The document's own name,
`job_runs`, is a second view that reads the first. It is put there where nothing has the name yet, and nothing of
somebody else's is ever touched (decision 22). Our own code reads the prefixed views alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from haulwright.errors import Refused
from haulwright.stores.books import book

if TYPE_CHECKING:
    from haulwright.stores.connection import Connection
    from haulwright.stores.migrations import Migration

PREFIX: Final = "haulwright_v_"
_MADE: Final = re.compile(rf"^create view {PREFIX}(\w+)", re.MULTILINE)
_TAKE: Final = {
    "sqlite": "create view {name} as select * from {view};",
    "postgres": "create view {name} as select * from {view}; comment on view {name} is 'Haulwright: {view}';",
}
_TAKE_IN_SHELL: Final = {
    "sqlite": "create view if not exists {name} as select * from {view};",
    "postgres": "do $$ begin if to_regclass('{name}') is null then " + _TAKE["postgres"] + " end if; end $$;",
}
_DEPENDED_ON: Final = "2BP01"
"""What PostgreSQL says of a view that other views read."""

State = Literal["taken", "free", "foreign"]


@dataclass(frozen=True, slots=True)
class ViewName:
    """A name of an application's document, and who has it."""

    name: str
    view: str
    """Our own view, which the name is for."""
    state: State
    """`taken` by our view, `free`, or `foreign`: something of somebody else's has it."""
    kind: str | None = None
    """What has it: table, view, index, type; None where it is free."""


def declared_names(chain: Iterable[Migration]) -> list[str]:
    """The names that a chain of migrations has views for."""
    return [name for migration in chain for name in _MADE.findall(migration.sql)]


def find_names(connection: Connection, names: Iterable[str]) -> list[ViewName]:
    """Who has each of these names now; those whose view is not there are left out."""
    entries = book("haulwright.stores", connection.dialect, "view_names")
    rows = []
    for name in names:
        view = PREFIX + name
        if connection.run(entries["own"], {"view": view}):
            holders = connection.run(entries["find"], {"name": name, "view": view})
            kind, ours = holders[0] if holders else (None, False)
            rows.append(ViewName(name, view, "taken" if ours else "foreign" if holders else "free", kind))
    return rows


def take_names(connection: Connection, names: Iterable[str]) -> list[ViewName]:
    """Put our views under these names wherever one is free, and return who has each afterwards."""
    names = list(names)
    for row in find_names(connection, names):
        if row.state == "free":
            connection.script(_TAKE[connection.dialect].format(name=row.name, view=row.view))
    return find_names(connection, names)


def drop_names(connection: Connection, names: Iterable[str]) -> list[ViewName]:
    """Give up those of these names that our views have, and return who has each afterwards."""
    names = list(names)
    for row in find_names(connection, names):
        if row.state == "taken":
            _drop(connection, row.name)
    return find_names(connection, names)


def _drop(connection: Connection, name: str) -> None:
    try:
        connection.script(f"drop view {name};")
    except Exception as error:
        if getattr(error, "sqlstate", None) != _DEPENDED_ON:
            raise
        hint = f"Have them read {PREFIX}{name}, then type it again."
        raise Refused(f"Other views read {name}, so it stays.", hint=hint) from error


def names_script(chain: Iterable[Migration], dialect: str) -> list[str]:
    """Take the names of a chain where they are free, as statements for the database's own shell."""
    return [_TAKE_IN_SHELL[dialect].format(name=name, view=PREFIX + name) for name in declared_names(chain)]

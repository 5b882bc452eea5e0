"""The names of views in the words of an application's document, beside whatever else is in the database.

An application makes its views under a prefix that is ours: `haulwright_v_job_runs`. The document's own name,
`job_runs`, is a second view that reads the first. It is put there where nothing has the name yet, and nothing of
somebody else's is ever touched (decision 22). Our own code reads the prefixed views alone. A function that a document
names, which PostgreSQL alone can have, is kept in the same way: `haulwright_f_NAME`, and NAME where that is free.
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
FUNCTION_PREFIX: Final = "haulwright_f_"
_MADE: Final = re.compile(rf"^create (?:view ({PREFIX}\w+)|function ({FUNCTION_PREFIX}\w+))", re.MULTILINE)
_TAKE: Final = {
    "sqlite": "create view {name} as select * from {view};",
    "postgres": "create view {name} as select * from {view}; comment on view {name} is 'Haulwright: {view}';",
}
_TAKE_IN_SHELL: Final = {
    "sqlite": "create view if not exists {name} as select * from {view};",
    "postgres": "do $$ begin if to_regclass('{name}') is null then " + _TAKE["postgres"] + " end if; end $$;",
}
_TAKE_FUNCTION: Final = """
do $take$ declare ours record; begin
    select pg_get_function_arguments(oid) as arguments, pg_get_function_result(oid) as result,
        (select string_agg('$' || place, ', ') from generate_series(1, pronargs) place) as places
    into ours from pg_proc where oid = '{view}'::regproc;
    if not exists (select 1 from pg_proc where proname = '{name}' and pg_function_is_visible(oid)) then
        execute format('create function {name}(%s) returns %s language sql set search_path from current as %L',
            ours.arguments, ours.result, format('select * from {view}(%s)', ours.places));
        comment on function {name} is 'Haulwright: {view}';
    end if;
end $take$;"""
_DEPENDED_ON: Final = "2BP01"
"""What PostgreSQL says of a view that other views read."""

State = Literal["taken", "free", "foreign"]


@dataclass(frozen=True, slots=True)
class ViewName:
    """A name of an application's document, and who has it."""

    name: str
    view: str
    """Our own view or function, which the name is for."""
    state: State
    """`taken` by ours, `free`, or `foreign`: something of somebody else's has it."""
    kind: str | None = None
    """What has it: table, view, index, type, function; None where it is free."""

    @property
    def instead(self) -> str:
        """What to do where the name is somebody else's."""
        return f"{'read' if self.view.startswith(PREFIX) else 'call'} {self.view}"


def declared_names(chain: Iterable[Migration]) -> list[str]:
    """The names that a chain of migrations has views or functions for."""
    return [_name_of(view) for view in _declared_views(chain)]


def find_names(connection: Connection, names: Iterable[str]) -> list[ViewName]:
    """Who has each of these names now; those whose view is not there are left out."""
    entries = book("haulwright.stores", connection.dialect, "view_names")
    rows = []
    for name in names:
        for (view,) in connection.run(entries["own"], {"view": PREFIX + name, "function": FUNCTION_PREFIX + name}):
            find = entries["find" if view.startswith(PREFIX) else "find_function"]
            holders = connection.run(find, {"name": name, "view": view})
            kind, ours = holders[0] if holders else (None, False)
            rows.append(ViewName(name, view, "taken" if ours else "foreign" if holders else "free", kind))
    return rows


def take_names(connection: Connection, names: Iterable[str]) -> list[ViewName]:
    """Put our views under these names wherever one is free, and return who has each afterwards."""
    names = list(names)
    for row in find_names(connection, names):
        if row.state == "free":
            connection.script(_taking(row.view, _TAKE[connection.dialect]))
    return find_names(connection, names)


def drop_names(connection: Connection, names: Iterable[str]) -> list[ViewName]:
    """Give up those of these names that our views have, and return who has each afterwards."""
    names = list(names)
    for row in find_names(connection, names):
        if row.state == "taken":
            _drop(connection, row)
    return find_names(connection, names)


def _drop(connection: Connection, row: ViewName) -> None:
    try:
        connection.script(f"drop {row.kind} {row.name};")
    except Exception as error:
        if getattr(error, "sqlstate", None) != _DEPENDED_ON:
            raise
        hint = f"Have them read {row.view}, then type it again."
        raise Refused(f"Other views read {row.name}, so it stays.", hint=hint) from error


def names_script(chain: Iterable[Migration], dialect: str) -> list[str]:
    """Take the names of a chain where they are free, as statements for the database's own shell."""
    return [_taking(view, _TAKE_IN_SHELL[dialect]) for view in _declared_views(chain)]


def _declared_views(chain: Iterable[Migration]) -> list[str]:
    return [view or function for migration in chain for view, function in _MADE.findall(migration.sql)]


def _name_of(view: str) -> str:
    return view.removeprefix(PREFIX).removeprefix(FUNCTION_PREFIX)


def _taking(view: str, take_view: str) -> str:
    template = take_view if view.startswith(PREFIX) else _TAKE_FUNCTION
    return template.format(name=_name_of(view), view=view)

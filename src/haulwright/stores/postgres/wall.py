"""The second wall: row-level security behind the predicates of operations, for requests of principals with a tenant.

Policies bind a role that nobody logs in as; a request changes to it for each of its transactions. Who owns the tables
is not bound by them, so that workers and migrations go on as before. Each owner has a role of its own: whoever may
change to it may change to nothing that another installation on the same server has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import psycopg

from haulwright.stores.connection import Connection, Database
from haulwright.stores.migrations import ENGINE, chain_of, transact_alone
from haulwright.stores.postgres.error_kinds import first_line
from haulwright.stores.postgres.wall_rules import ROLE, WallPlan, plan_of

OLDEST_VERSION: Final = 150000
"""Before it a view is read with the rights of its owner, whom no policy binds."""
GRANT_OPTIONS_VERSION: Final = 160000
_LONGEST_OWNER: Final = 40
_ROLE_OF: Final = (
    "'haulwright_tenant_' || case when length({owner}) <= "
    + str(_LONGEST_OWNER)
    + " then {owner}::text else md5({owner}) end"
)
_SCENE: Final = f"""
select scene.version, scene.me, scene.owner, scene.role, r.oid is not null,
       coalesce(pg_has_role(scene.me, r.oid,
                            case when scene.version >= {GRANT_OPTIONS_VERSION} then 'SET' else 'MEMBER' end), false),
       pg_has_role(scene.me, scene.owner, 'USAGE'),
       case when current_setting('search_path') like '%%$user%%' then
           (select string_agg(quote_ident(name), ', ') from unnest(current_schemas(false)) as name) end
from (select current_setting('server_version_num')::int as version, current_user as me, owner.name as owner,
             {_ROLE_OF.format(owner="owner.name")} as role
      from (select pg_get_userbyid(relowner) as name
            from pg_class where oid = to_regclass('haulwright_jobs')) owner) scene
left join pg_roles r on r.rolname = scene.role"""  # noqa: S608 - of constants
_WALLED: Final = """
select c.relname, obj_description(p.oid, 'pg_policy')
from pg_class c join pg_policy p on p.polrelid = c.oid
where c.oid = any(array(select to_regclass(name) from unnest(%(tables)s::text[]) as name)) and c.relrowsecurity
  and p.polname = 'haulwright_wall'
  and p.polroles = array(select oid from pg_roles where rolname = %(role)s)"""
_LACKING: Final = """
select 'alter view ' || quote_ident(c.relname) || ' set (security_invoker = true); grant select on '
       || quote_ident(c.relname) || ' to {role};'
from pg_class c
where c.relkind = 'v'
  and (c.oid = any(array(select to_regclass(name) from unnest(%(views)s::text[]) as name))
       or c.relnamespace = to_regnamespace(quote_ident(current_schema()))
          and obj_description(c.oid, 'pg_class') like 'Haulwright: haulwright\\_v\\_%%')
  and ('security_invoker=true' <> all(coalesce(c.reloptions, '{}'))
       or not has_table_privilege(%(role)s, c.oid, 'select'))
union all
select 'grant execute on function ' || f.oid::regprocedure || ' to {role};'
from pg_proc f
where f.pronamespace = to_regnamespace(quote_ident(current_schema())) and f.proname = any(%(functions)s::text[])
  and not has_function_privilege(%(role)s, f.oid, 'execute')
union all
select 'grant usage, select on sequence ' || s.oid::regclass || ' to {role};'
from pg_class s join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
where case when s.relkind = 'S' then not has_sequence_privilege(%(role)s, s.oid, 'select') end
  and d.refobjid = any(array(select to_regclass(name) from unnest(%(tables)s::text[]) as name))
union all
select 'grant usage on schema ' || quote_ident(current_schema()) || ' to {role};'
where not has_schema_privilege(%(role)s, current_schema(), 'usage')"""
_CREATE: Final = "create role {role} nologin"
_CREATE_ONCE: Final = f"do $$ begin {_CREATE}; exception when duplicate_object or unique_violation then null; end $$"
_SCRIPT: Final = """
-- The second wall: requests for one tenant see the rows of that tenant alone. It takes PostgreSQL 15, and a user who
-- may create roles, or to whom an administrator has granted the one that the notice names.
do $do$
declare role text := {role};
begin
    if current_setting('server_version_num')::int < {oldest} then
        return;
    end if;
{steps}
    if not has_schema_privilege(role, current_schema(), 'usage') then
        execute format('grant usage on schema %I to %I', current_schema(), role);
    end if;
exception when insufficient_privilege then
    raise notice 'No second wall with the role %: %', role, sqlerrm;
end $do$;
"""
_TRIES: Final = 3
"""How often a role is made that another database of the server makes at the same time."""


@dataclass(frozen=True, slots=True)
class Wall:
    """Whether the wall stands, for these tables and this user."""

    role: str
    reason: str = ""
    """Why it does not; empty where it stands."""
    remedy: str = ""
    """The line to type."""
    search_path: str | None = None
    """What to look for tables in as the role, where the path names the user itself."""

    @property
    def is_up(self) -> bool:
        """Whether it stands."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class _Scene:
    version: int
    user: str
    owner: str
    role: str
    has_role: bool
    may_set: bool
    owns: bool
    search_path: str | None

    @property
    def quoted(self) -> str:
        return _quoted(self.role)

    @property
    def grant(self) -> str:
        options = " with inherit false, set true" if self.version >= GRANT_OPTIONS_VERSION else ""
        return f"grant {self.quoted} to {_quoted(self.user)}{options}"


def look_at_wall(database: Database, packages: Sequence[str] = (ENGINE,)) -> Wall:
    """Whether the wall stands around the tables of these packages. Nothing is changed."""
    plans = _plans(packages)

    def work(connection: Connection) -> Wall:
        scene = _scene(connection)
        if scene is None:
            return Wall("", "there are no tables yet", "haulwright db migrate")
        obstacle = _obstacle(scene)
        if obstacle is not None:
            return obstacle
        bare = sorted(_names(plans, "tables") - _walled(connection, plans, scene.role).keys())
        if bare:
            return Wall(scene.role, f"{len(bare)} tables are outside it, such as {bare[0]}", "haulwright db migrate")
        return Wall(scene.role, search_path=scene.search_path)

    return database.read(work)


def raise_wall(database: Database, packages: Sequence[str] = (ENGINE,)) -> Wall:
    """Put up what is missing of the wall around the tables of these packages; what stands is not touched.

    Where it cannot be, nothing fails: the predicates of operations hold alone, and the answer says why.
    """
    plans = _plans(packages)
    try:
        scene = _with_role(database)
        if scene is not None and scene.version >= OLDEST_VERSION and scene.has_role:
            # A table at a time: each is locked for a moment only, and no two of them by one transaction.
            for statements in database.read(lambda connection: _missing(connection, plans, scene)):
                _execute(database, statements.replace(ROLE, scene.quoted))
    except psycopg.errors.InsufficientPrivilege as error:
        seen = look_at_wall(database, packages)
        return seen if seen.is_up else Wall(seen.role, first_line(error), seen.remedy or "haulwright db migrate")
    return look_at_wall(database, packages)


def wall_script(packages: Iterable[str]) -> str:
    """The whole wall for psql, with a role of the user who runs it; where it cannot be, a notice says so."""
    plans = _plans(packages)
    statements = [
        _CREATE_ONCE,
        f"grant {ROLE} to current_user",
        *(rule.statements(table) for plan in plans for table, rule in plan.tables.items()),
        *(f"alter view {view} set (security_invoker = true)" for plan in plans for view in plan.views),
        *(f"grant select on {view} to {ROLE}" for plan in plans for view in plan.views),
        *(f"grant execute on function {name} to {ROLE}" for plan in plans for name in plan.functions),
        f"grant select on sequence haulwright_events_seq_seq to {ROLE}",
    ]
    steps = "\n".join(f"    execute replace($wall${text}$wall$, '{ROLE}', quote_ident(role));" for text in statements)
    return _SCRIPT.format(role=_ROLE_OF.format(owner="current_user"), steps=steps, oldest=OLDEST_VERSION)


def _plans(packages: Iterable[str]) -> list[WallPlan]:
    return [_plan(package) for package in packages]


@cache
def _plan(package: str) -> WallPlan:
    return plan_of(package, chain_of(package, "postgres"))


def _names(plans: Iterable[WallPlan], kind: str) -> set[str]:
    return {name for plan in plans for name in getattr(plan, kind)}


def _scene(connection: Connection) -> _Scene | None:
    rows = connection.execute(_SCENE, ())
    return _Scene(*rows[0]) if rows else None


def _obstacle(scene: _Scene) -> Wall | None:
    """Why the wall cannot stand, whatever the tables say."""
    if scene.version < OLDEST_VERSION:
        reason = f"PostgreSQL {scene.version // 10000} reads views with the rights of their owner"
        return Wall(scene.role, reason, f"Upgrade the server to {OLDEST_VERSION // 10000} or later.")
    if not scene.owns and scene.version < GRANT_OPTIONS_VERSION:
        reason = f"{scene.user} does not own the tables, and before PostgreSQL 16 would be bound by it everywhere"
        return Wall(scene.role, reason, f"Serve as {scene.owner}, or upgrade the server to 16 or later.")
    if not scene.has_role:
        line = f"{_CREATE.replace(ROLE, scene.quoted)}; {scene.grant}"
        reason = f"the role {scene.role} is missing, and {scene.user} could not create it"
        return Wall(scene.role, reason, _for_administrator(line))
    if not scene.may_set:
        return Wall(scene.role, f"{scene.user} may not change to {scene.role}", _for_administrator(scene.grant))
    return None


def _for_administrator(line: str) -> str:
    return f"As an administrator: psql -c '{line}', then haulwright db migrate"


def _with_role(database: Database) -> _Scene | None:
    """The scene with its role, and with the right of this user to change to it, as far as it can be had."""
    scene = database.read(_scene)
    for is_last in (*[False] * (_TRIES - 1), True):
        if scene is None or scene.version < OLDEST_VERSION or (scene.has_role and scene.may_set):
            return scene
        statement = scene.grant if scene.has_role else _CREATE_ONCE.replace(ROLE, scene.quoted)
        try:
            _execute(database, statement)
        except psycopg.errors.InsufficientPrivilege:
            return scene
        except (psycopg.errors.UniqueViolation, psycopg.errors.InternalError):
            # Another database of the server is at the same role.
            if is_last:
                raise
        scene = database.read(_scene)
    return scene


def _walled(connection: Connection, plans: Sequence[WallPlan], role: str) -> dict[str, str]:
    """The tables that the wall stands around, each with the mark of its rule."""
    rows = connection.execute(_WALLED, {"tables": list(_names(plans, "tables")), "role": role})
    return dict(rows)


def _missing(connection: Connection, plans: Sequence[WallPlan], scene: _Scene) -> list[str]:
    """The statements that put up what is missing, to be run one by one."""
    walled = _walled(connection, plans, scene.role)
    rules = {table: rule for plan in plans for table, rule in plan.tables.items()}
    names = {kind: list(_names(plans, kind)) for kind in ("tables", "views", "functions")}
    lacking = connection.execute(_LACKING, {**names, "role": scene.role})
    around = [rule.statements(table) for table, rule in rules.items() if walled.get(table) != rule.digest]
    return [*around, *(["\n".join(statement for (statement,) in lacking)] if lacking else [])]


def _execute(database: Database, statements: str) -> None:
    transact_alone(database, lambda connection: connection.script(statements))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

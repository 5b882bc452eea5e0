"""Partitions on PostgreSQL: an open one takes everything, gets an end when it has grown, and later goes as a whole.

Whoever changes them waits for nobody: a lock that is not there within a moment is left for another time, so that who
settles or reads behind us is held up for that moment at most. Nothing here is needed for a row to be written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.ids import first_id_of, time_of
from haulwright.events import Event
from haulwright.stores.connection import Connection
from haulwright.stores.partitions import Kept, Partition, Partitions, lag_us
from haulwright.stores.spared import NO_EVENTS, NO_JOBS, Spared

HISTORY: Final = "haulwright_history"
EVENTS: Final = "haulwright_events"
KEYS: Final = {HISTORY: "id", EVENTS: "seq"}
GROWN_BYTES: Final = 32 * 1024**2
"""An open partition of this size gets an end: about 200,000 events, or 75,000 jobs."""
GROWN_SHARE: Final = 16
"""Or of this share of its table: who finds nothing by a key looks into all of them, and takes a lock on each."""
GROWN_LIMIT_BYTES: Final = 1024**3
"""... but at this size at the latest: it is read through once while it gets its end, and nobody settles meanwhile."""
LOCK_TIMEOUT: Final = "100ms"
WORK_TIMEOUT: Final = "30s"
MOVED_LIMIT: Final = 10_000
"""How many jobs with an id from a clock that is ahead are taken over into the next partition."""
DUE_SHARE: Final = 0.5
"""A partition is emptied where so many of its jobs are due; fewer are removed one by one."""

_PARTS: Final = """
select p.relname::text, pg_get_expr(p.relpartbound, p.oid), pg_relation_size(p.oid)
from pg_inherits i join pg_class p on p.oid = i.inhrelid
where i.inhparent = to_regclass(%(table)s)"""
_BOUND: Final = re.compile(r"FROM \('?([^')]*)'?\) TO \('?([^')]*)'?\)")
TRY_LOCK: Final = "pg_try_advisory_xact_lock(736120081, current_schema()::regnamespace::oid::int)"
"""Of this installation: others in the same database have schemas of their own."""
_ALONE: Final = f"""
select {TRY_LOCK}, set_config('lock_timeout', %s, true),
       set_config('statement_timeout', '{WORK_TIMEOUT}', true), set_config('enable_seqscan', 'on', true)"""
_NEXT: Final = "select case when is_called then last_value + 1 else last_value end from haulwright_events_seq_seq"
_OUTGROWN: Final = """
select p.relname::text
from pg_class p, lateral (
    select sum(greatest(c.reltuples, 0)) as rows
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = p.oid) parts
where p.oid = any(array(select to_regclass(name) from unnest(%(tables)s::text[]) as name))
  and parts.rows not between p.reltuples / 2 and 2 * greatest(p.reltuples, 500)"""
_CLOSE: Final = """
alter table {table} detach partition {table}_open;
alter table {table}_open rename to {part};
create table {table}_open (like {part} including all excluding identity);
alter table {table} attach partition {table}_open default;"""
_MOVE: Final = """
alter table {table}_open disable trigger user;
with moved as (delete from {part} where {key} >= '{end}' returning *) insert into {table}_open select * from moved;
alter table {table}_open enable trigger user;"""
_ATTACH: Final = "alter table {table} attach partition {part} for values from ({start}) to ('{end}');"
_KEEP: Final = """
create trigger haulwright_events_are_kept before truncate on haulwright_events_open
    for each statement execute function haulwright_guard_events();"""
_KEPT: Final = "(select unnest(%(states)s::text[]) as state, unnest(%(before)s::bigint[]) as before) kept"
_COUNT: Final = f"""
select h.state, h.tenant, count(*) filter (where h.finished_at < kept.before), count(*)
from {{part}} h join {_KEPT} on kept.state = h.state group by h.state, h.tenant"""  # noqa: S608 - of constants
_DUE: Final = f"{{part}} h join {_KEPT} on kept.state = h.state and h.finished_at < kept.before"
_WITH_THEM: Final = (
    f"""delete from haulwright_blobs b using haulwright_effects e, {_DUE}
    where h.requeued_to is null and e.tenant = h.tenant and e.job_key = h.job_key
      and b.tenant = e.tenant and b.key = e.key""",  # noqa: S608 - of constants
    f"""delete from haulwright_effects e using {_DUE}
    where h.requeued_to is null and e.tenant = h.tenant and e.job_key = h.job_key""",  # noqa: S608 - of constants
    f"""delete from haulwright_stages s using {_DUE}
    where h.requeued_to is null and s.tenant = h.tenant and s.job_key = h.job_key""",  # noqa: S608 - of constants
    f"delete from haulwright_payloads p using {_DUE} where h.payload_bytes is not null and p.job_id = h.id",  # noqa: S608 - of constants
)
"""What only the removed jobs needed. A requeued letter leaves its effects and stages to its successor."""
_PUT_ASIDE: Final = f"""
create temporary table haulwright_undue on commit drop as
select h.* from {{part}} h join {_KEPT} on kept.state = h.state and h.finished_at >= kept.before"""  # noqa: S608 - of constants
_PUT_BACK: Final = """
truncate {part};
alter table {part} disable trigger user;
insert into {part} select * from haulwright_undue;
alter table {part} enable trigger user;"""


class _NotNow(Exception):
    """Somebody else is at it or in the way, or this user may not: it is left for another time."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """What of a partition is due."""

    removed: Mapping[tuple[str, str], int]
    """By state and tenant."""
    rows: int

    @property
    def due(self) -> int:
        return sum(self.removed.values())


class PostgresPartitions(Partitions):
    """Partitions on a server."""

    def of_table(self, table: str) -> list[Partition]:
        """The partitions of a table, by their keys, the open one last."""
        return self._db.read(lambda connection: _parts(connection, table))

    def close_grown(self) -> int:
        """Give an end to each open partition that has grown, and open another; how many got one."""
        return sum(self._try(partial(self._close, table)) for table in KEYS)

    def keep_statistics(self) -> int:
        """Have the server look again at tables that have become twice or half as large; how many it looked at.

        By itself it looks at partitions alone, and takes a join with their table for a hundred times what it is.
        """
        outgrown = self._db.read(lambda connection: connection.execute(_OUTGROWN, {"tables": list(KEYS)}))
        return sum(self._try(partial(_analyze, table)) for (table,) in outgrown)

    def drop_events(self, age_seconds: float) -> int:
        """Drop the first partition of which every event is older than an age; how many were dropped, one or none."""

        def work(connection: Connection) -> bool:
            before = self._now(connection) - round(age_seconds * SECOND)
            for part in _closed(connection, EVENTS):
                _, last = _times(connection, part)
                if last < before:
                    connection.execute(f"drop table {part.name}")
                    return True
            return False

        return self._try(work)

    def clear_jobs(self, kept: Kept) -> int:
        """Empty the first partition most of whose jobs are older than they are kept; how many were, one or none."""

        def work(connection: Connection) -> bool:
            now = self._now(connection)
            params = _cutoffs(kept, now)
            for part in _closed(connection, HISTORY):
                if _may_be_due(connection, part, kept, now) and _is_mostly_due(_count(connection, part, params)):
                    return self._clear(connection, part, kept, now)
            return False

        return self._try(work)

    def spared_events(self, age_seconds: float) -> Spared:
        """Which events are not worth removing one by one, for they will soon go as a whole."""

        def work(connection: Connection) -> Spared:
            before = self._now(connection) - round(age_seconds * SECOND)
            spared = NO_EVENTS
            for part in reversed(_closed(connection, EVENTS)):
                first, last = _times(connection, part)
                if last < before or last - first > lag_us(age_seconds):
                    break
                spared = Spared(int(part.lower or 0), spared.end or int(part.upper or 0))
            return spared

        return self._db.read(work)

    def spared_jobs(self, kept: Kept) -> Spared:
        """Which finished jobs are not worth removing one by one, for they will soon go as a whole."""

        def work(connection: Connection) -> Spared:
            now = self._now(connection)
            spared = NO_JOBS
            for part in reversed(_closed(connection, HISTORY)):
                if _is_ripe(part, kept, now) or not _is_narrow(part, kept):
                    break
                spared = Spared(str(part.lower), str(part.upper) if spared is NO_JOBS else spared.end)
            return spared

        return self._db.read(work)

    def _close(self, table: str, connection: Connection) -> bool:
        parts = _parts(connection, table)
        if not parts or not parts[-1].is_open or not _has_grown(parts):
            return False
        connection.execute(f"lock table {table} in access exclusive mode")
        start = parts[-2].upper if len(parts) > 1 else None
        end = self._end_of(connection, table)
        if start is not None and not _is_after(table, end, start):
            raise _NotNow  # the clock went back
        key, number = KEYS[table], 1 + max((_number(part.name) for part in parts), default=0)
        names = {"table": table, "part": f"{table}_p{number:06}", "key": key, "end": end}
        beyond = f"select count(*) from (select from {table}_open where {key} >= %s limit {MOVED_LIMIT + 1}) ahead"  # noqa: S608 - names of ours
        ((ahead,),) = connection.execute(beyond, [end])
        if ahead > MOVED_LIMIT:
            raise _NotNow  # a clock is far ahead: its ids would have no end
        steps = [_CLOSE, *([_MOVE] if ahead else []), _ATTACH, *([_KEEP] if table == EVENTS else [])]
        start_text = "minvalue" if start is None else f"'{start}'"
        connection.script("".join(steps).format(start=start_text, **names))
        return True

    def _end_of(self, connection: Connection, table: str) -> str:
        """The first key that nobody has used yet: whoever writes waits for us."""
        if table == HISTORY:
            return first_id_of(self._now(connection))
        ((number,),) = connection.execute(_NEXT)
        return str(number)

    def _clear(self, connection: Connection, part: Partition, kept: Kept, now: int) -> bool:
        connection.execute(f"lock table {part.name} in exclusive mode")
        params = _cutoffs(kept, now)
        counts = _count(connection, part, params)
        if not _is_mostly_due(counts):
            return False
        for statement in _WITH_THEM:
            connection.execute(statement.format(part=part.name), params)
        if counts.due == counts.rows:
            connection.execute(f"drop table {part.name}")
        else:
            connection.execute(_PUT_ASIDE.format(part=part.name), params)
            connection.script(_PUT_BACK.format(part=part.name))
        self._events.record(connection, _record(counts, kept))
        return True

    def _now(self, connection: Connection) -> int:
        ((now,),) = connection.execute("select haulwright_now(%s::bigint)", [self._db.clock.now()])
        return int(now)

    def _try(self, work: Callable[[Connection], bool]) -> int:
        """Do it where nobody else is at it, and nobody is in the way; how often it was done, once or not at all."""

        def alone(connection: Connection) -> bool:
            with _left_for_later():
                ((is_alone, *_),) = connection.execute(_ALONE, [LOCK_TIMEOUT])
                return is_alone and work(connection)

        try:
            return int(self._db.transact(alone))
        except _NotNow:
            return 0


@contextmanager
def _left_for_later() -> Iterator[None]:
    from psycopg import errors  # noqa: PLC0415 - this file is imported where there is SQLite alone, too

    try:
        yield
    except (
        errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected, errors.InsufficientPrivilege
    ) as reason:  # fmt: skip
        raise _NotNow from reason


def _analyze(table: str, connection: Connection) -> bool:
    connection.execute(f"analyze {table}")
    return True


def _parts(connection: Connection, table: str) -> list[Partition]:
    parts = []
    for name, bound, size_bytes in connection.execute(_PARTS, {"table": table}):
        bounds = _BOUND.search(bound)
        lower, upper = bounds.groups() if bounds else (None, None)
        parts.append(Partition(table, name, None if lower == "MINVALUE" else lower, upper, size_bytes))
    return sorted(parts, key=lambda part: (part.is_open, part.upper and _sortable(part.table, part.upper)))


def _closed(connection: Connection, table: str) -> list[Partition]:
    return [part for part in _parts(connection, table) if not part.is_open]


def _sortable(table: str, key: str) -> Any:
    return key if table == HISTORY else int(key)


def _is_after(table: str, key: str, other: str) -> bool:
    return bool(_sortable(table, key) > _sortable(table, other))


def _number(name: str) -> int:
    number = re.search(r"_p(\d+)$", name)
    return int(number.group(1)) if number else 0


def _has_grown(parts: list[Partition]) -> bool:
    share = sum(part.size_bytes for part in parts) // GROWN_SHARE
    return parts[-1].size_bytes >= max(GROWN_BYTES, min(GROWN_LIMIT_BYTES, share))


def _times(connection: Connection, part: Partition) -> tuple[int, int]:
    """The first and the last time of an event; of none, the beginning of time."""
    ((first, last),) = connection.execute(f"select min(at), max(at) from {part.name}")  # noqa: S608 - a name of ours
    return first or 0, last or 0


def _is_ripe(part: Partition, kept: Kept, now: int) -> bool:
    """Whether what was enqueued last of it would be due, had it succeeded at once."""
    return part.upper is not None and time_of(part.upper) < now - round(min(kept.values()) * SECOND)


def _is_narrow(part: Partition, kept: Kept) -> bool:
    """Whether its first job may wait for its last one."""
    if part.lower is None or part.upper is None:
        return False
    return time_of(part.upper) - time_of(part.lower) <= lag_us(min(kept.values()))


def _may_be_due(connection: Connection, part: Partition, kept: Kept, now: int) -> bool:
    """Whether it is worth counting: all of it is of an age, or what is due of a wide one does not wait for the rest."""
    if _is_ripe(part, kept, now) or _is_narrow(part, kept):
        return _is_ripe(part, kept, now)
    ((first,),) = connection.execute(f"select min(finished_at) from {part.name}")  # noqa: S608 - a name of ours
    return first is not None and first < now - round(min(kept.values()) * SECOND)


def _is_mostly_due(counts: _Counts) -> bool:
    return counts.due >= DUE_SHARE * counts.rows


def _cutoffs(kept: Kept, now: int) -> dict[str, Any]:
    states = [str(state) for state in kept]
    return {"states": states, "before": [now - round(seconds * SECOND) for seconds in kept.values()]}


def _count(connection: Connection, part: Partition, params: dict[str, Any]) -> _Counts:
    rows = connection.execute(_COUNT.format(part=part.name), params)
    removed = {(state, tenant): due for state, tenant, due, _ in rows if due}
    return _Counts(removed, sum(count for *_, count in rows))


def _record(counts: _Counts, kept: Kept) -> list[Event]:
    ages = {str(state): seconds for state, seconds in kept.items()}
    return [
        Event(events.JOBS_PRUNED, tenant, data={"state": state, "count": count, "age_seconds": ages[state]})
        for (state, tenant), count in sorted(counts.removed.items())
    ]

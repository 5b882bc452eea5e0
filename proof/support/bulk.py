"""Backlogs made by the database itself: a hundred thousand jobs in a second."""

from __future__ import annotations

from haulwright.stores.store import Store

_COLUMNS = "id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, lease_us, created_at, updated_at"
_ROWS = {
    "sqlite": """
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {count})
        select printf('%08x-%04x-7000-8000-%012x', {batch}, 0, n), {tenant}, 'note', 'default', 'queued',
               {rank}, {run_at}, '{{"number":1}}', 5, printf('bulk-%d-%d', {batch}, n), 120000000, 0, 0
        from numbers""",
    "postgres": """
        select (lpad(to_hex({batch}), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, {tenant},
               'note', 'default', 'queued', {rank}, {run_at}, '{{"number":1}}', 5, 'bulk-{batch}-' || n, 120000000, 0, 0
        from generate_series(1, {count}) as numbers (n)""",
}


def fill(store: Store, count: int, *, batch: int, tenant: str, run_at: int, rank: int = 0) -> None:  # noqa: PLR0913
    """Queue this many jobs; `tenant` is an SQL expression over `n`, their number within the batch."""
    rows = _ROWS[store.database.dialect].format(count=count, batch=batch, tenant=tenant, rank=rank, run_at=run_at)
    store.database.transact(lambda connection: connection.execute(f"insert into haulwright_jobs ({_COLUMNS}) {rows}"))
    if store.database.dialect == "postgres":
        store.database.read(lambda connection: connection.execute("analyze haulwright_jobs"))

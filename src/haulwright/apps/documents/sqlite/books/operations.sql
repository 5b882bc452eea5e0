-- The operations of documents on SQLite.

-- name: put
-- Those of a small document, which were done at once and are in no ledger.
insert into documents_operations (tenant, key, job_id, name, tries, result, started_at, settled_at)
select :tenant, input.key, :job_id, input.name, 1, input.result, :started_at, :now
from input where true
on conflict (tenant, key) do update
set job_id = excluded.job_id, tries = excluded.tries, result = excluded.result, started_at = excluded.started_at,
    settled_at = excluded.settled_at;

-- The operations of documents on PostgreSQL.

-- name: put
-- Those of a small document, which were done at once and are in no ledger.
insert into documents_operations (tenant, key, job_id, name, tries, result, started_at, settled_at)
select :tenant, input.key, :job_id::uuid, input.name, 1, input.result, :started_at::bigint, haulwright_now(:now::bigint)
from unnest(:key::text[], :name::text[], :result::text[]) as input (key, name, result)
on conflict (tenant, key) do update
set job_id = excluded.job_id, tries = excluded.tries, result = excluded.result, started_at = excluded.started_at,
    settled_at = excluded.settled_at;

-- The operations of documents, kept beside the ledger of the engine, which forgets them with their job.

-- name: keep
insert into documents_operations (tenant, key, job_id, name, tries, result, started_at, settled_at)
select e.tenant, e.key, e.job_id, replace(e.name, 'commit:', ''), e.tries, e.result, e.started_at, e.settled_at
from haulwright_effects e
where e.tenant = :tenant and e.job_key = :job_key and e.state = 'done'
on conflict (tenant, key) do update
set job_id = excluded.job_id, tries = excluded.tries, result = excluded.result, started_at = excluded.started_at,
    settled_at = excluded.settled_at;

-- name: of_job
-- What the operations of a document came to, in their order.
select name, tries, result, started_at, settled_at from documents_operations
where tenant = :tenant and job_id = :job_id order by settled_at, started_at, key limit :limit;

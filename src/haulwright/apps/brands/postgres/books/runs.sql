-- Runs that are paid for, on PostgreSQL.

-- name: newest
-- The newest run of a connection whose items are here and usable, other than what this job brought in itself.
select tenant, id, brand_id, connection_id, job_id, actor, input, input_hash, marked, taken_over, cap, status,
       actor_run_id, dataset_id, dataset_items, truncated, raw_item_count, normalized_created, normalized_updated,
       quarantined, usage_usd, error, error_class, requested_at, started_at, fetched_at, normalized_at, finished_at,
       polled_at, elapsed_us, wait_us
from brands_runs
where tenant = :tenant and connection_id = :connection_id::uuid and fetched_at is not null and error is null
  and job_id is distinct from :job_id::uuid
order by started_at desc limit 1;

-- name: take_over
-- A run whose job is over goes on under another one.
update brands_runs set job_id = :job_id::uuid, taken_over = true
where tenant = :tenant and id = :id::uuid and finished_at is null
  and not exists (select 1 from haulwright_jobs j where j.id = brands_runs.job_id)
returning id;

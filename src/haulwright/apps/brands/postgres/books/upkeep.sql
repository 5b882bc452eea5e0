-- Runs that nobody looks after, and raw items that nobody needs any more, on PostgreSQL.

-- name: left_behind
-- Runs that are not over although the job that they belong to is, the oldest first.
select r.tenant, r.id, r.brand_id, r.connection_id, r.job_id, r.actor, r.input, r.input_hash, r.marked,
       r.taken_over, r.cap, r.status, r.actor_run_id, r.dataset_id, r.dataset_items, r.truncated,
       r.raw_item_count, r.normalized_created, r.normalized_updated, r.quarantined, r.usage_usd, r.error,
       r.error_class, r.requested_at, r.started_at, r.fetched_at, r.normalized_at, r.finished_at, r.polled_at,
       r.elapsed_us, r.wait_us
from brands_runs r
join brands_brands b on b.tenant = r.tenant and b.id = r.brand_id and b.removed_at is null
where r.finished_at is null and r.requested_at < haulwright_now(:now::bigint) - :age_us::bigint
  and not exists (select 1 from haulwright_jobs j where j.id = r.job_id)
order by r.requested_at limit :limit for update of r skip locked;

-- name: prunable
-- The next run whose raw items are old enough to go.
select tenant, id, brand_id from brands_runs
where finished_at < haulwright_now(:now::bigint) - :age_us::bigint and pruned_at is null
order by finished_at limit 1 for update skip locked;

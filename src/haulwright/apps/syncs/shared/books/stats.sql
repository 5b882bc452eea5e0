-- What operators ask: the views, for one tenant or for all.

-- name: by_connector
select tenant_id, connector_id, succeeded, dead, success_rate, mean_duration_seconds, records_synced
from syncs_by_connector where cast(:tenant as text) is null or tenant_id = :tenant
order by dead desc, tenant_id, connector_id limit :limit;

-- name: dead_letters
select tenant_id, error_code, jobs, oldest_at from syncs_dead_letters
where cast(:tenant as text) is null or tenant_id = :tenant
order by jobs desc, tenant_id, error_code limit :limit;

-- name: retries
select error_code, retries, jobs, rate from syncs_retries order by retries desc, error_code limit :limit;

-- name: queued
select minute, queued from syncs_queued_per_minute order by minute desc limit :limit;

-- name: stuck
select job_id, tenant_id, connector_id, run_id, started_at from syncs_stuck
where cast(:tenant as text) is null or tenant_id = :tenant limit :limit;

-- name: states
select status, count(*) from haulwright_v_ingestion_jobs
where cast(:tenant as text) is null or tenant_id = :tenant
group by status order by status;

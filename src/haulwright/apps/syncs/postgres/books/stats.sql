-- What operators ask, on PostgreSQL: the views, for one tenant or for all.

-- name: by_connector
select tenant_id, connector_id, succeeded, dead, success_rate, mean_duration_seconds, records_synced
from syncs_by_connector where :tenant::text is null or tenant_id = :tenant
order by dead desc, tenant_id, connector_id limit :limit;

-- name: dead_letters
select tenant_id, error_code, jobs, oldest_at from syncs_dead_letters
where :tenant::text is null or tenant_id = :tenant
order by jobs desc, tenant_id, error_code limit :limit;

-- name: retries
select error_code, retries, jobs, rate from syncs_retries order by retries desc, error_code limit :limit;

-- name: queued
select minute, queued from syncs_queued_per_minute order by minute desc limit :limit;

-- name: stuck
select job_id, tenant_id, connector_id, run_id, started_at from syncs_stuck
where :tenant::text is null or tenant_id = :tenant limit :limit;

-- name: states
select status, count(*) from ingestion_jobs where :tenant::text is null or tenant_id = :tenant group by status order by status;

-- name: jobs
-- The newest syncs of a tenant, of one connection or of all.
select job_id, tenant_id, connector_id, external_account_id, status, retry_count, run_id, correlation_id, error_message,
       error_code, records_synced, duration_seconds
from ingestion_jobs
where tenant_id = :tenant and (:connector_id::text is null or connector_id = :connector_id)
  and (:status::text is null or status = :status) and (:id::uuid is null or job_id = :id::uuid)
order by job_id desc limit :limit;

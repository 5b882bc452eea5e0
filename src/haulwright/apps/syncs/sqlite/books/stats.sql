-- What operators ask, on SQLite: the views, for one tenant or for all.

-- name: jobs
-- The newest syncs of a tenant, of one connection or of all.
select job_id, tenant_id, connector_id, external_account_id, status, retry_count, run_id, correlation_id, error_message,
       error_code, next_retry_at, records_synced, duration_seconds
from haulwright_v_ingestion_jobs
where tenant_id = :tenant and (:connector_id is null or connector_id = :connector_id)
  and (:status is null or status = :status) and (:id is null or job_id = :id)
order by job_id desc limit :limit;

-- What operators ask, on PostgreSQL: the views, for one tenant or for all.

-- name: jobs
-- The newest syncs of a tenant, of one connection or of all.
select job_id, tenant_id, connector_id, external_account_id, status, retry_count, run_id, correlation_id, error_message,
       error_code, next_retry_at, records_synced, duration_seconds
from haulwright_v_ingestion_jobs
where tenant_id = :tenant and (:connector_id::text is null or connector_id = :connector_id)
  and (:status::text is null or status = :status) and (:id::uuid is null or job_id = :id::uuid)
order by job_id desc limit :limit;

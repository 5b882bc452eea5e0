-- The jobs of prices in the words of the document, on SQLite.

-- name: list
-- The newest jobs of a tenant, of one intake or of all.
select id, tenant, intake_id, source_id, query_params, status, attempts, retry_count, locked_by, locked_at, heartbeat_at,
       next_retry_at, error_message, error_code, created_at, completed_at, result
from haulwright_v_scrape_jobs
where tenant = :tenant and (:intake_id is null or intake_id = :intake_id) and (:id is null or id = :id)
order by id desc limit :limit;

-- What a compile wants of its sources, and what became of each.

-- name: record
-- Once: a later word about the same source changes nothing.
update brands_compile_sources
set outcome = :outcome, reason = :reason, run_age_hours = :run_age_hours,
    apify_run_id = :apify_run_id, actor_run_id = :actor_run_id, apify_run_status = :apify_run_status, dataset_id = :dataset_id,
    raw_items_count = :raw_items_count, normalized_created = :normalized_created,
    normalized_updated = :normalized_updated, error = :error, error_class = :error_class, recorded_at = haulwright_now(:now)
where tenant = :tenant and compile_run_id = :compile_run_id and connection_id = :connection_id and outcome is null
returning connection_id;

-- name: of_compile
select source, connection_id, outcome, reason, run_age_hours, apify_run_id, actor_run_id, apify_run_status, dataset_id,
       raw_items_count, normalized_created, normalized_updated, error, error_class, job_id
from brands_compile_sources
where tenant = :tenant and compile_run_id = :compile_run_id
order by source, connection_id;

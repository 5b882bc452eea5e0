-- What a compile wants of its sources, and what became of each, on SQLite.

-- name: want
-- Once each; a compile that is tried again wants those anew that failed, or that nobody told of.
insert into brands_compile_sources (
    tenant, compile_run_id, connection_id, brand_id, source, job_id, outcome, reason, recorded_at)
select :tenant, :compile_run_id, input.connection_id, :brand_id, input.source, input.job_id, input.outcome, input.reason,
       case when input.outcome is not null then :now end
from input where true
on conflict (tenant, compile_run_id, connection_id) do update
    set job_id = excluded.job_id, outcome = excluded.outcome, reason = excluded.reason,
        recorded_at = excluded.recorded_at, error = null, error_class = null, apify_run_id = null, actor_run_id = null,
        apify_run_status = null, dataset_id = null
    where brands_compile_sources.outcome is null or brands_compile_sources.outcome = 'failed';

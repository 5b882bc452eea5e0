-- What a compile wants of its sources, and what became of each, on PostgreSQL.

-- name: want
-- Once each; a compile that is tried again wants those anew that failed, or that nobody told of.
insert into brands_compile_sources (
    tenant, compile_run_id, connection_id, brand_id, source, job_id, outcome, reason, recorded_at)
select :tenant, :compile_run_id::uuid, input.connection_id, :brand_id::uuid, input.source, input.job_id, input.outcome,
       input.reason, case when input.outcome is not null then haulwright_now(:now::bigint) end
from unnest(:connection_id::uuid[], :source::text[], :job_id::uuid[], :outcome::text[], :reason::text[])
     as input (connection_id, source, job_id, outcome, reason)
on conflict (tenant, compile_run_id, connection_id) do update
    set job_id = excluded.job_id, outcome = excluded.outcome, reason = excluded.reason,
        recorded_at = excluded.recorded_at, error = null, error_class = null, apify_run_id = null, actor_run_id = null,
        apify_run_status = null, dataset_id = null
    where brands_compile_sources.outcome is null or brands_compile_sources.outcome = 'failed';

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
        recorded_at = excluded.recorded_at, error = null, error_class = null
    where brands_compile_sources.outcome is null or brands_compile_sources.outcome = 'failed';

-- name: record
-- Once: a later word about the same source changes nothing.
update brands_compile_sources
set outcome = :outcome, reason = :reason, run_age_hours = :run_age_hours::float8,
    apify_run_id = :apify_run_id, apify_run_status = :apify_run_status, dataset_id = :dataset_id,
    raw_items_count = :raw_items_count::int, normalized_created = :normalized_created::int,
    normalized_updated = :normalized_updated::int, error = :error, error_class = :error_class,
    recorded_at = haulwright_now(:now::bigint)
where tenant = :tenant and compile_run_id = :compile_run_id::uuid and connection_id = :connection_id::uuid
  and outcome is null
returning connection_id;

-- name: of_compile
select source, connection_id, outcome, reason, run_age_hours, apify_run_id, apify_run_status, dataset_id,
       raw_items_count, normalized_created, normalized_updated, error, error_class, job_id
from brands_compile_sources
where tenant = :tenant and compile_run_id = :compile_run_id::uuid
order by source, connection_id;

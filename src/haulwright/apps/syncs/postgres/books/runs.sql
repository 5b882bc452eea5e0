-- What runs at Airbyte, on PostgreSQL.

-- name: saw
-- What a look at Airbyte found. What is settled stays as it was settled.
update syncs_runs r
set status = input.status, records = input.records, bytes = input.bytes, duration_seconds = input.duration_seconds,
    ended_at = case when input.is_over then coalesce(r.ended_at, haulwright_now(:now::bigint)) else r.ended_at end
from unnest(:tenant::text[], :job_key::text[], :round::int[], :status::text[], :records::bigint[], :bytes::bigint[],
            :duration_seconds::float8[], :is_over::bool[])
     as input (tenant, job_key, round, status, records, bytes, duration_seconds, is_over)
where r.tenant = input.tenant and r.job_key = input.job_key and r.round = input.round and r.settled_at is null;

-- name: settle
-- The job of a run has drawn its conclusion.
update syncs_runs r
set settled_at = haulwright_now(:now::bigint), ended_at = coalesce(r.ended_at, haulwright_now(:now::bigint))
from unnest(:tenant::text[], :job_key::text[], :round::int[]) as input (tenant, job_key, round)
where r.tenant = input.tenant and r.job_key = input.job_key and r.round = input.round and r.settled_at is null;

-- name: prune
-- Runs that were settled long ago, the oldest first.
delete from syncs_runs where ctid = any(array(
    select ctid from syncs_runs
    where settled_at < haulwright_now(:now::bigint) - :age_us::bigint
    order by settled_at limit :limit for update skip locked))
returning run_id;

-- What runs at Airbyte, on SQLite.

-- name: saw
-- What a look at Airbyte found. What is settled stays as it was settled.
update syncs_runs as r
set status = input.status, records = input.records, bytes = input.bytes, duration_seconds = input.duration_seconds,
    ended_at = case when input.is_over then coalesce(r.ended_at, :now) else r.ended_at end
from input
where r.tenant = input.tenant and r.job_key = input.job_key and r.round = input.round and r.settled_at is null;

-- name: settle
-- The job of a run has drawn its conclusion.
update syncs_runs as r
set settled_at = :now, ended_at = coalesce(r.ended_at, :now)
from input
where r.tenant = input.tenant and r.job_key = input.job_key and r.round = input.round and r.settled_at is null;

-- name: prune
-- Runs that were settled long ago, the oldest first.
delete from syncs_runs where (tenant, job_key, round) in (
    select tenant, job_key, round from syncs_runs
    where settled_at < :now - :age_us order by settled_at limit :limit)
returning run_id;

-- What runs at Airbyte, on PostgreSQL.

-- name: begin
insert into syncs_runs (
    tenant, job_key, round, job_id, connector_id, workspace_id, credential, run_id, status, adopted, started_at)
values (
    :tenant, :job_key, :round::int, :job_id::uuid, :connector_id, :workspace_id, :credential, :run_id::bigint, :status,
    :adopted::bool, haulwright_now(:now::bigint))
on conflict (tenant, job_key, round) do nothing;

-- name: last
-- The newest run of a work.
select tenant, job_key, round, job_id, connector_id, workspace_id, credential, run_id, status, adopted, records, bytes,
       duration_seconds, started_at, ended_at, settled_at
from syncs_runs where tenant = :tenant and job_key = :job_key order by round desc limit 1;

-- name: watched
-- The runs of a workspace that nobody has settled, and whether a job still waits for each.
select r.tenant, r.job_key, r.round, r.job_id, r.run_id, r.started_at, r.ended_at is not null,
       exists (select 1 from haulwright_jobs j where j.id = r.job_id)
from syncs_runs r
where r.credential = :credential and r.workspace_id = :workspace_id and r.settled_at is null
order by r.started_at, r.run_id limit :limit;

-- name: unsettled
-- The workspaces that have runs to look after, and whose they are.
select credential, workspace_id, min(tenant) from syncs_runs
where settled_at is null
group by credential, workspace_id order by credential, workspace_id limit :limit;

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

-- name: hand_over
-- The successor of a dead letter waits for the run now.
update syncs_runs set job_id = :job_id::uuid
where tenant = :tenant and job_key = :job_key and round = :round::int and settled_at is null;

-- name: prune
-- Runs that were settled long ago, the oldest first.
delete from syncs_runs where ctid = any(array(
    select ctid from syncs_runs
    where settled_at < haulwright_now(:now::bigint) - :age_us::bigint
    order by settled_at limit :limit for update skip locked))
returning run_id;

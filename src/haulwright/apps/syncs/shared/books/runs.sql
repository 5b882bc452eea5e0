-- What runs at Airbyte.

-- name: begin
insert into syncs_runs (
    tenant, job_key, round, job_id, connector_id, workspace_id, credential, run_id, status, adopted, started_at)
values (
    :tenant, :job_key, :round, :job_id, :connector_id, :workspace_id, :credential, :run_id, :status, :adopted,
    haulwright_now(:now))
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

-- name: hand_over
-- The successor of a dead letter waits for the run now.
update syncs_runs set job_id = :job_id
where tenant = :tenant and job_key = :job_key and round = :round and settled_at is null;

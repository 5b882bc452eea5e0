-- Compiles.

-- name: ask
-- One compile a request: where it was asked for before, or where there is no such brand, nothing comes back.
insert into brands_compile_runs (
    tenant, id, brand_id, request_id, job_key, force_refresh, prompt_version, model, created_at)
select tenant, :id, id, :request_id, :job_key, :force_refresh, :prompt_version, :model, haulwright_now(:now)
from brands_brands where tenant = :tenant and id = :brand_id and removed_at is null
on conflict (tenant, request_id) do nothing
returning created_at;

-- name: get
select tenant, id, brand_id, job_id, request_id, force_refresh, prompt_version, model, evidence_status, error,
       error_class, created_at, started_at, finished_at
from brands_compiles where tenant = :tenant and id = :id;

-- name: by_request
select tenant, id, brand_id, job_id, request_id, force_refresh, prompt_version, model, evidence_status, error,
       error_class, created_at, started_at, finished_at
from brands_compiles where tenant = :tenant and request_id = :request_id;

-- name: newest
select tenant, id, brand_id, job_id, request_id, force_refresh, prompt_version, model, evidence_status, error,
       error_class, created_at, started_at, finished_at
from brands_compiles where tenant = :tenant and brand_id = :brand_id
order by created_at desc, id desc limit 1;

-- name: force
-- Whether a refresh is forced may be changed until the compile begins.
update brands_compile_runs set force_refresh = :force_refresh
where tenant = :tenant and id = :id and started_at is null
returning id;

-- name: due
-- Whether a compile waits that could be claimed: of a job that somebody is just claiming, that is still so.
select 1 from haulwright_jobs
where queue = :queue and state = 'queued' and tenant = :tenant and task = :task and run_at <= haulwright_now(:now)
limit 1;

-- name: begin
-- A compile that was requeued is not over any more.
update brands_compile_runs
set started_at = coalesce(started_at, haulwright_now(:now)), finished_at = null, evidence_status = null, error = null,
    error_class = null
where tenant = :tenant and id = :id
returning id;

-- name: finish
update brands_compile_runs
set finished_at = haulwright_now(:now), evidence_status = :evidence_status, error = :error, error_class = :error_class
where tenant = :tenant and id = :id
returning id;

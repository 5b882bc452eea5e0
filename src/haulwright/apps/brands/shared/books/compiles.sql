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

-- name: begin
update brands_compile_runs set started_at = coalesce(started_at, haulwright_now(:now))
where tenant = :tenant and id = :id
returning id;

-- name: finish
update brands_compile_runs
set finished_at = haulwright_now(:now), evidence_status = :evidence_status, error = :error, error_class = :error_class
where tenant = :tenant and id = :id
returning id;

-- name: record
insert into penstock_events (at, tenant, name, job_id, attempt, fence, worker, actor, data)
select coalesce(told.at, penstock_now(:now::bigint)), told.tenant, told.name, told.job_id, told.attempt, told.fence,
       told.worker, told.actor, told.data
from unnest(:at::bigint[], :tenant::text[], :name::text[], :job_id::uuid[], :attempt::int[], :fence::bigint[],
            :worker::text[], :actor::text[], :data::text[])
     as told (at, tenant, name, job_id, attempt, fence, worker, actor, data);

-- name: of_job
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from penstock_events
where job_id = :id::uuid order by seq limit :limit;

-- name: since
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from penstock_events
where seq > :after and (:tenant::text is null or tenant = :tenant) and (:name::text is null or name = :name)
order by seq limit :limit;

-- name: latest
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from penstock_events
where (:tenant::text is null or tenant = :tenant) and (:name::text is null or name = :name)
order by seq desc limit :limit;

-- name: permit_retention
select set_config('penstock.retention', 'on', true);

-- name: prune
delete from penstock_events where seq = any(array(
    select seq from penstock_events where at < penstock_now(:now::bigint) - :age_us::bigint order by at limit :limit))
returning seq;

-- name: forbid_retention
select set_config('penstock.retention', 'off', true);

-- name: record
insert into haulwright_events (at, tenant, name, job_id, attempt, fence, worker, actor, data)
values (coalesce(:at, :now), :tenant, :name, :job_id, :attempt, :fence, :worker, :actor, :data);

-- name: of_job
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where job_id = :id and seq > :after order by seq limit :limit;

-- name: written
-- The last number that was given to an event, be that event gone by now.
select coalesce((select seq from sqlite_sequence where name = 'haulwright_events'), 0);

-- name: writers
-- One writes at a time, and is seen when it has committed: numbers come in the order of commits.
select null where false;

-- name: between
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq > :after and seq <= :until and (:tenant is null or tenant = :tenant) and (:name is null or name = :name)
order by seq limit :limit;

-- name: of_job_between
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where job_id = :id and seq > :after and seq <= :until
  and (:tenant is null or tenant = :tenant) and (:name is null or name = :name)
order by seq limit :limit;

-- name: latest
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before
order by seq desc limit :limit;

-- name: latest_of_tenant
-- An entry for each choice, so that each has its index: the condition of one statement for all of them would have none.
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before and tenant = :tenant
order by seq desc limit :limit;

-- name: latest_named
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before and name = :name
order by seq desc limit :limit;

-- name: latest_of_tenant_named
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before and tenant = :tenant and name = :name
order by seq desc limit :limit;

-- name: recoveries
-- Leases that were taken back since a moment, by how that was found out.
select data ->> '$.detected_by', count(*), max(at) from haulwright_events
where at >= :since and name = 'job.lease_expired' and (:tenant is null or tenant = :tenant)
group by 1 order by 1;

-- name: permit_retention
insert into haulwright_meta (key, value) values ('retention', 'on') on conflict (key) do nothing;

-- name: prune
delete from haulwright_events where seq in (
    select seq from haulwright_events
    where at < :now - :age_us and (seq < :spared_start or seq >= :spared_end)
    order by at limit :limit)
returning seq;

-- name: forbid_retention
delete from haulwright_meta where key = 'retention';

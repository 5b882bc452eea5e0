-- name: record
insert into haulwright_events (at, tenant, name, job_id, attempt, fence, worker, actor, data)
select coalesce(input.at, haulwright_now(:now::bigint)), input.tenant, input.name, input.job_id, input.attempt, input.fence,
       input.worker, input.actor, input.data
from unnest(:at::bigint[], :tenant::text[], :name::text[], :job_id::uuid[], :attempt::int[], :fence::bigint[],
            :worker::text[], :actor::text[], :data::text[])
     as input (at, tenant, name, job_id, attempt, fence, worker, actor, data);

-- name: of_job
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where job_id = :id::uuid and seq > :after order by seq limit :limit;

-- name: written
-- The last number that was given to an event, be its transaction committed or not.
select case when is_called then last_value else 0 end from haulwright_events_seq_seq;

-- name: writers
-- The transactions that write events now. The lock is taken before the first number is given and let go after the commit
-- is visible, so whoever is not here has either ended or will be given later numbers.
select distinct virtualtransaction from pg_locks
where locktype = 'relation' and relation = 'haulwright_events'::regclass and mode = 'RowExclusiveLock' and granted
  and database = (select oid from pg_database where datname = current_database());

-- name: between
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq > :after and seq <= :until and (:tenant::text is null or tenant = :tenant) and (:name::text is null or name = :name)
order by seq limit :limit;

-- name: of_job_between
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where job_id = :id::uuid and seq > :after and seq <= :until
  and (:tenant::text is null or tenant = :tenant) and (:name::text is null or name = :name)
order by seq limit :limit;

-- name: latest
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before
order by seq desc limit :limit;

-- name: latest_of_tenant
-- An entry for each choice, so that each has its index: the condition of one statement for all of them would have none.
-- A range of one tenant and an order that begins with it leave no choice: a plan that does not know whose events they are
-- would go back through those of everybody.
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before and tenant >= :tenant and tenant <= :tenant
order by tenant desc, seq desc limit :limit;

-- name: latest_named
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before and name >= :name and name <= :name
order by name desc, seq desc limit :limit;

-- name: latest_of_tenant_named
select name, tenant, job_id, attempt, fence, worker, actor, at, data, seq from haulwright_events
where seq < :before and tenant = :tenant and name = :name
order by seq desc limit :limit;

-- name: recoveries
-- Leases that were taken back since a moment, by how that was found out.
select data::json ->> 'detected_by', count(*), max(at) from haulwright_events
where at >= :since::bigint and name = 'job.lease_expired' and (:tenant::text is null or tenant = :tenant)
group by 1 order by 1;

-- name: permit_retention
select set_config('haulwright.retention', 'on', true);

-- name: prune
-- All but those that will soon go with their partition.
delete from haulwright_events where seq = any(array(
    select seq from haulwright_events
    where at < haulwright_now(:now::bigint) - :age_us::bigint
      and (seq < :spared_start::bigint or seq >= :spared_end::bigint)
    order by at limit :limit))
returning seq;

-- name: forbid_retention
select set_config('haulwright.retention', 'off', true);

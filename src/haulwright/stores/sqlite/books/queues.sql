-- name: pause
insert into haulwright_queues as queue (name, paused_at, paused_by, reason)
values (:name, :now, :actor, :reason)
on conflict (name) do update set paused_at = :now, paused_by = :actor, reason = :reason
where queue.paused_at is null
returning name;

-- name: paused
select paused_at, paused_by, reason from haulwright_queues where name = :name and paused_at is not null;

-- name: paused_among
select name, paused_at, paused_by, reason from haulwright_queues
where name in (select value from json_each(:names)) and paused_at is not null;

-- name: resume
update haulwright_queues set paused_at = null, paused_by = null, reason = null
where name = :name and paused_at is not null
returning name;

-- name: occupied
-- The names of queues in which jobs wait, :limit of them after one, a probe of the index for each; and of those in which jobs
-- run, no more than all workers have in hand. One statement, so at one moment: a job goes from one to the other.
with recursive walk (name) as (
    select min(queue) from haulwright_jobs where state = 'queued' and queue > :after
    union all
    select (select min(j.queue) from haulwright_jobs j where j.state = 'queued' and j.queue > walk.name)
    from walk where walk.name is not null
)
select name from (select name from walk where name is not null limit :limit)
union
select queue from haulwright_jobs where state = 'running' and queue > :after;

-- name: occupied_by
-- The same of a tenant. No index begins with the tenant, for every job would pay for it: two probes of this one for each
-- queue, whoever has jobs there, and so nothing of the jobs of others, which may be millions.
with recursive walk (name) as (
    select min(queue) from haulwright_jobs where state = 'queued' and queue > :after
    union all
    select (select min(j.queue) from haulwright_jobs j where j.state = 'queued' and j.queue > walk.name)
    from walk where walk.name is not null
)
select name from (
    select name from walk
    where name is not null
      and exists (select 1 from haulwright_jobs j where j.state = 'queued' and j.queue = walk.name and j.tenant = :tenant)
    limit :limit)
union
select queue from haulwright_jobs where state = 'running' and tenant = :tenant and queue > :after;

-- name: counts
-- What waits in some queues, a range of the index for each, and what runs: at one moment, for a job goes from one to the other.
-- Finished jobs are not counted: that would read all of history.
with counted (queue, waiting) as materialized (  -- once for each queue, however often it is named below
    select name.value, (
        select json_array(count(*) filter (where j.run_at <= :now), count(*) filter (where j.run_at > :now),
                          min(j.run_at) filter (where j.run_at <= :now))
        from haulwright_jobs j
        where j.queue = name.value and j.state = 'queued' and j.tenant >= :first_tenant and j.tenant <= :last_tenant)
    from json_each(:names) name
)
select queue, waiting ->> 0 as due, waiting ->> 1 as parked, waiting ->> 2 as oldest, 0 as running
from counted where waiting ->> 0 or waiting ->> 1
union all
select queue, 0, 0, null, count(*) from haulwright_jobs
where state = 'running' and tenant >= :first_tenant and tenant <= :last_tenant
group by queue;

-- name: counts_up_to
-- The same up to a limit, for pages: pair by pair of tenant and rank, a probe of the index for each, and of its jobs no more than
-- are still to be counted. A pair begins with its earliest job, so what waits longest among all pairs is met. The next pair is looked for
-- in two probes, as in a claim.
with recursive walk (queue, tenant, rank, due, parked, oldest, pairs) as (
    select value, :first_tenant, -32768, 0, 0, null, 0 from json_each(:names)
    union all
    select walk.queue, next.tenant, next.rank,
           walk.due + case when walk.due > :most then 0 else (
               select count(*) from (
                   select 1 from haulwright_jobs j
                   where j.queue = walk.queue and j.state = 'queued' and j.tenant = next.tenant and j.rank = next.rank
                     and j.run_at <= :now limit :most + 1)) end,
           walk.parked + case when walk.parked > :most then 0 else (
               select count(*) from (
                   select 1 from haulwright_jobs j
                   where j.queue = walk.queue and j.state = 'queued' and j.tenant = next.tenant and j.rank = next.rank
                     and j.run_at > :now limit :most + 1)) end,
           case when next.run_at <= :now then min(next.run_at, coalesce(walk.oldest, next.run_at)) else walk.oldest end,
           walk.pairs + 1
    from walk join haulwright_jobs next on next.id = coalesce(
        (select j.id from haulwright_jobs j
         where j.queue = walk.queue and j.state = 'queued' and j.tenant = walk.tenant and j.rank > walk.rank
         order by j.rank, j.run_at, j.id limit 1),
        (select j.id from haulwright_jobs j
         where j.queue = walk.queue and j.state = 'queued' and j.tenant > walk.tenant and j.tenant <= :last_tenant
         order by j.tenant, j.rank, j.run_at, j.id limit 1))
    where walk.pairs <= :pairs
)
select queue, max(due) as due, max(parked) as parked, min(oldest) as oldest, 0 as running, max(pairs) as pairs
from walk group by queue having max(pairs) > 0
union all
select queue, 0, 0, null, count(*), 0 from haulwright_jobs
where state = 'running' and tenant >= :first_tenant and tenant <= :last_tenant
group by queue;

-- name: ended
-- What ended between two moments, queue by queue: one range of an index, never all of history.
select queue, count(*) filter (where state <> 'dead') as done, count(*) filter (where state = 'dead') as dead
from haulwright_history
where finished_at > :since and finished_at <= :until and (:tenant is null or tenant = :tenant)
group by queue order by queue;

-- name: held
-- How many jobs each worker has in hand.
select worker_id, count(*) from haulwright_jobs
where state = 'running' and (:tenant is null or tenant = :tenant)
group by worker_id;

-- name: troubles
-- The last failures among the newest :look events, with the task and the queue of their job.
select e.at, e.name, e.tenant, e.job_id, e.attempt, coalesce(j.task, h.task), coalesce(j.queue, h.queue),
       coalesce(j.error_message, h.error_message)
from (select seq, at, name, tenant, job_id, attempt from haulwright_events order by seq desc limit :look) e
left join haulwright_jobs j on j.id = e.job_id
left join haulwright_history h on h.id = e.job_id
where e.name in ('job.failed', 'job.dead_lettered', 'job.lease_expired')
  and (:queue is null or coalesce(j.queue, h.queue) = :queue)
  and (:tenant is null or e.tenant = :tenant)
order by e.seq desc limit :limit;

-- name: list_paused
select name, paused_at, paused_by, reason from haulwright_queues
where paused_at is not null and name > :after
order by name limit :limit;

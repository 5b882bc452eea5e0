-- name: pause
insert into haulwright_queues as queue (name, paused_at, paused_by, reason)
values (:name, haulwright_now(:now::bigint), :actor, :reason)
on conflict (name) do update set paused_at = haulwright_now(:now::bigint), paused_by = :actor, reason = :reason
where queue.paused_at is null
returning name;

-- name: paused
select paused_at, paused_by, reason from haulwright_queues where name = :name and paused_at is not null;

-- name: paused_among
select name, paused_at, paused_by, reason from haulwright_queues
where name = any(:names::text[]) and paused_at is not null;

-- name: resume
update haulwright_queues set paused_at = null, paused_by = null, reason = null
where name = :name and paused_at is not null
returning name;

-- name: occupied
-- The names of queues in which jobs wait, :limit of them after one, a probe of the index for each; and of those in which jobs
-- run, no more than all workers have in hand. One statement, so at one moment: a job goes from one to the other.
with recursive walk (name) as (
    (select queue from haulwright_jobs where state = 'queued' and queue > :after order by queue limit 1)
    union all
    select next.queue
    from walk cross join lateral (
        select j.queue from haulwright_jobs j where j.state = 'queued' and j.queue > walk.name order by j.queue limit 1) next
)
(select name from walk limit :limit)
union
select queue from haulwright_jobs where state = 'running' and queue > :after;

-- name: occupied_by
-- The same of a tenant. No index begins with the tenant, for every job would pay for it: two probes of this one for each
-- queue, whoever has jobs there, and so nothing of the jobs of others, which may be millions.
with recursive walk (name) as (
    (select queue from haulwright_jobs where state = 'queued' and queue > :after order by queue limit 1)
    union all
    select next.queue
    from walk cross join lateral (
        select j.queue from haulwright_jobs j where j.state = 'queued' and j.queue > walk.name order by j.queue limit 1) next
)
(select name from walk
 where (select true from haulwright_jobs j where j.state = 'queued' and j.queue = walk.name and j.tenant = :tenant limit 1)
 limit :limit)
union
select queue from haulwright_jobs where state = 'running' and tenant = :tenant and queue > :after;

-- name: counts
-- What waits in some queues, a range of the index for each, and what runs: at one moment, for a job goes from one to the other.
-- Finished jobs are not counted: that would read all of history.
select name.queue, waiting.due, waiting.parked, waiting.oldest, 0::bigint as running
from unnest(:names::text[]) as name (queue)
cross join lateral (
    select count(*) filter (where j.run_at <= (select haulwright_now(:now::bigint))) as due,
           count(*) filter (where j.run_at > (select haulwright_now(:now::bigint))) as parked,
           min(j.run_at) filter (where j.run_at <= (select haulwright_now(:now::bigint))) as oldest
    from haulwright_jobs j
    where j.queue = name.queue and j.state = 'queued' and j.tenant >= :first_tenant and j.tenant <= :last_tenant) waiting
where waiting.due + waiting.parked > 0
union all
select queue, 0, 0, null, count(*) from haulwright_jobs
where state = 'running' and tenant >= :first_tenant and tenant <= :last_tenant
group by queue;

-- name: counts_up_to
-- The same up to a limit, for pages: pair by pair of tenant and rank, one probe of the index for each, and of its jobs no more than
-- are still to be counted. A pair begins with its earliest job, so what waits longest among all pairs is met.
with recursive walk (queue, tenant, rank, due, parked, oldest, pairs) as (
    select name.queue collate "C", :first_tenant::text collate "C", (-32768)::smallint, 0::bigint, 0::bigint, null::bigint, 0
    from unnest(:names::text[]) as name (queue)
    union all
    select walk.queue, next.tenant, next.rank,
           walk.due + case when walk.due > :most::bigint then 0 else (
               select count(*) from (
                   select 1 from haulwright_jobs j
                   where j.queue = walk.queue and j.state = 'queued' and j.tenant = next.tenant and j.rank = next.rank
                     and j.run_at <= (select haulwright_now(:now::bigint)) limit :most::bigint + 1) due) end,
           walk.parked + case when walk.parked > :most::bigint then 0 else (
               select count(*) from (
                   select 1 from haulwright_jobs j
                   where j.queue = walk.queue and j.state = 'queued' and j.tenant = next.tenant and j.rank = next.rank
                     and j.run_at > (select haulwright_now(:now::bigint)) limit :most::bigint + 1) parked) end,
           least(walk.oldest, case when next.run_at <= (select haulwright_now(:now::bigint)) then next.run_at end),
           walk.pairs + 1
    from walk cross join lateral (
        select j.tenant, j.rank, j.run_at from haulwright_jobs j
        where j.queue = walk.queue and j.state = 'queued'
          and (j.tenant, j.rank) > (walk.tenant, walk.rank) and j.tenant <= :last_tenant
        order by j.tenant, j.rank, j.run_at, j.id limit 1) next
    where walk.pairs <= :pairs::int
)
select queue, max(due) as due, max(parked) as parked, min(oldest) as oldest, 0::bigint as running, max(pairs) as pairs
from walk group by queue having max(pairs) > 0
union all
select queue, 0, 0, null, count(*), 0 from haulwright_jobs
where state = 'running' and tenant >= :first_tenant and tenant <= :last_tenant
group by queue;

-- name: ended
-- What ended between two moments, queue by queue: one range of an index, never all of history.
select queue, count(*) filter (where state <> 'dead') as done, count(*) filter (where state = 'dead') as dead
from haulwright_history
where finished_at > :since::bigint and finished_at <= :until::bigint and (:tenant::text is null or tenant = :tenant)
group by queue order by queue;

-- name: held
-- How many jobs each worker has in hand.
select worker_id, count(*) from haulwright_jobs
where state = 'running' and (:tenant::text is null or tenant = :tenant)
group by worker_id;

-- name: troubles
-- The last failures among the newest :look events, with the task and the queue of their job.
select e.at, e.name, e.tenant, e.job_id, e.attempt, coalesce(j.task, h.task), coalesce(j.queue, h.queue),
       coalesce(j.error_message, h.error_message)
from (select seq, at, name, tenant, job_id, attempt from haulwright_events order by seq desc limit :look) e
left join haulwright_jobs j on j.id = e.job_id
left join haulwright_history h on h.id = e.job_id
where e.name in ('job.failed', 'job.dead_lettered', 'job.lease_expired')
  and (:queue::text is null or coalesce(j.queue, h.queue) = :queue)
  and (:tenant::text is null or e.tenant = :tenant)
order by e.seq desc limit :limit;

-- name: list_paused
select name, paused_at, paused_by, reason from haulwright_queues
where paused_at is not null and name collate "C" > :after
order by name collate "C" limit :limit;

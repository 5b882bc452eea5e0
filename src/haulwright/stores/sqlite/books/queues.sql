-- name: pause
insert into haulwright_queues as queue (name, paused_at, paused_by, reason)
values (:name, :now, :actor, :reason)
on conflict (name) do update set paused_at = :now, paused_by = :actor, reason = :reason
where queue.paused_at is null
returning name;

-- name: paused
select paused_at, paused_by, reason from haulwright_queues where name = :name and paused_at is not null;

-- name: resume
update haulwright_queues set paused_at = null, paused_by = null, reason = null
where name = :name and paused_at is not null
returning name;

-- name: counts
-- What waits and runs, queue by queue. Finished jobs are not counted: that would read all of history.
select queue,
       count(*) filter (where state = 'queued' and run_at <= :now) as due,
       count(*) filter (where state = 'queued' and run_at > :now) as parked,
       count(*) filter (where state = 'running') as running,
       min(run_at) filter (where state = 'queued' and run_at <= :now) as oldest
from haulwright_jobs where :tenant is null or tenant = :tenant group by queue order by queue;

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
select name, paused_at, paused_by, reason from haulwright_queues where paused_at is not null order by name;

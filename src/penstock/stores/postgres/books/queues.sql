-- name: pause
insert into penstock_queues as known (name, paused_at, paused_by, reason)
values (:name, penstock_now(:now::bigint), :actor, :reason)
on conflict (name) do update set paused_at = penstock_now(:now::bigint), paused_by = :actor, reason = :reason
where known.paused_at is null
returning name;

-- name: paused
select paused_at, paused_by, reason from penstock_queues where name = :name and paused_at is not null;

-- name: resume
update penstock_queues set paused_at = null, paused_by = null, reason = null
where name = :name and paused_at is not null
returning name;

-- name: counts
-- What waits and runs, queue by queue. Finished jobs are not counted: that would read all of history.
select queue,
       count(*) filter (where state = 'queued' and run_at <= penstock_now(:now::bigint)) as due,
       count(*) filter (where state = 'queued' and run_at > penstock_now(:now::bigint)) as parked,
       count(*) filter (where state = 'running') as running,
       min(run_at) filter (where state = 'queued' and run_at <= penstock_now(:now::bigint)) as oldest
from penstock_jobs where :tenant::text is null or tenant = :tenant group by queue order by queue;

-- name: list_paused
select name, paused_at, paused_by, reason from penstock_queues where paused_at is not null order by name;

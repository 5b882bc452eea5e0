-- Jobs on SQLite. The same names and parameters as on PostgreSQL; what are arrays there is the table `input` here, with a
-- column for each. Every write transaction is immediate, so no row needs a lock of its own.

-- name: enqueue
-- A conflict with the index of active unique keys writes nothing. The row is not returned, which would take its time.
insert into haulwright_jobs (
    id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
    concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at,
    created_at, updated_at, audited)
values (
    :id, :tenant, :task, :queue, 'queued', :rank, coalesce(:run_at, :now + :delay_us), :args, :max_attempts, :job_key,
    :source, :unique_key, :unique_scope, :concurrency_key, :concurrency_limit, :correlation_id, :tags, :event_fields, :headers,
    :requeued_from, :lease_us, :timeout_us, max(coalesce(:run_at, :now + :delay_us), :now) + :deadline_us, :now, :now,
    :audited)
on conflict (tenant, task, unique_key) where unique_scope = 'while_active' do nothing;

-- name: enqueue_plain
-- A job without what most jobs do without. Each parameter costs more here than the column it fills, and a null the most.
insert into haulwright_jobs (
    id, tenant, task, queue, rank, run_at, args, max_attempts, job_key, tags, lease_us, deadline_at, created_at, updated_at)
values (
    :id, :tenant, :task, :queue, :rank, :now + :delay_us, :args, :max_attempts, :id, :tags, :lease_us,
    :now + :delay_us + :deadline_us, :now, :now);

-- name: enqueue_keyed
-- A job, the one key that outlives it, and what is told of it. Its unique key is that one, or none. Nothing is written
-- while the key still holds, be it of the same job: it was enqueued before, and its client asks again.
insert into haulwright_keys as held (tenant, kind, task, key, job_id, args_digest, expires_at)
values (:tenant, :kind, :key_task, :key, :id, :args_digest, :now + :period_us)
on conflict (tenant, kind, task, key) do update
    set job_id = excluded.job_id, args_digest = excluded.args_digest, expires_at = excluded.expires_at
    where held.expires_at <= :now;
insert into haulwright_jobs (
    id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
    concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at,
    created_at, updated_at, audited)
select
    taken.job_id, :tenant, :task, :queue, 'queued', :rank, coalesce(:run_at, :now + :delay_us), :args, :max_attempts,
    :job_key, :source, :unique_key, :unique_scope, :concurrency_key, :concurrency_limit, :correlation_id, :tags, :event_fields,
    :headers,
    :requeued_from, :lease_us, :timeout_us, max(coalesce(:run_at, :now + :delay_us), :now) + :deadline_us, :now, :now,
    :audited
from haulwright_keys taken
where taken.tenant = :tenant and taken.kind = :kind and taken.task = :key_task and taken.key = :key and changes() = 1
returning id;
insert into haulwright_events (at, tenant, name, job_id, data)
select created_at, tenant, :event, id, :event_data from haulwright_jobs where id = :id and :event is not null and changes() = 1;

-- name: enqueue_many
-- Several jobs, some of which may find their unique key taken: by others, or by one before them in the batch.
insert into haulwright_jobs (
    id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
    concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at,
    created_at, updated_at, audited)
select
    input.id, input.tenant, input.task, input.queue, 'queued', input.rank, coalesce(input.run_at, :now + input.delay_us),
    input.args, input.max_attempts, input.job_key, input.source, input.unique_key, input.unique_scope, input.concurrency_key,
    input.concurrency_limit, input.correlation_id, input.tags, input.event_fields, input.headers, input.requeued_from, input.lease_us,
    input.timeout_us, max(coalesce(input.run_at, :now + input.delay_us), :now) + input.deadline_us, :now, :now,
    input.audited
from input where true
on conflict (tenant, task, unique_key) where unique_scope = 'while_active' do nothing
returning id, :notify;  -- the bell is the file's own log

-- name: enqueue_with_events
-- Jobs that find no key taken, and of each the event that says who enqueued it.
insert into haulwright_jobs (
    id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
    concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at,
    created_at, updated_at, audited)
select
    input.id, input.tenant, input.task, input.queue, 'queued', input.rank, coalesce(input.run_at, :now + input.delay_us),
    input.args, input.max_attempts, input.job_key, input.source, input.unique_key, input.unique_scope, input.concurrency_key,
    input.concurrency_limit, input.correlation_id, input.tags, input.event_fields, input.headers, input.requeued_from, input.lease_us,
    input.timeout_us, max(coalesce(input.run_at, :now + input.delay_us), :now) + input.deadline_us, :now, :now,
    input.audited
from input;

insert into haulwright_events (at, tenant, name, job_id, actor, data)
select :now, input.tenant, input.event, input.id, input.actor, input.event_data
from input where :notify is not null;

-- name: begin_load
-- The time by which a bulk load is written.
select :now, :notify;

-- name: notify
-- Nothing is to do: workers watch the file's own log.
select null;

-- name: load
-- Jobs of which none can be a duplicate, in the order of these columns.
insert into haulwright_jobs (
    id, args, job_key, tenant, task, queue, rank, run_at, max_attempts, source, concurrency_key, concurrency_limit,
    correlation_id, tags, event_fields, headers, lease_us, timeout_us, deadline_at, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: active_twin
-- The job that holds an active unique key.
select id, case when payload_bytes is null then args else (select p.args from haulwright_payloads p where p.job_id = id) end
from haulwright_jobs
where tenant = :tenant and task = :task and unique_key = :key and unique_scope = 'while_active';

-- name: take_key
-- Take a key that outlives its job. Nothing comes back while somebody else's still holds.
insert into haulwright_keys as held (tenant, kind, task, key, job_id, args_digest, expires_at)
values (:tenant, :kind, :task, :key, :job_id, :args_digest, :now + :period_us)
on conflict (tenant, kind, task, key) do update
    set job_id = excluded.job_id, args_digest = excluded.args_digest, expires_at = excluded.expires_at
    where held.expires_at <= :now
returning job_id;

-- name: held_key
select job_id, args_digest from haulwright_keys
where tenant = :tenant and kind = :kind and task = :task and key = :key;

-- name: unique_holder
-- The job that a unique key stands for which outlives its job, while its time is not over.
select job_id from haulwright_keys
where tenant = :tenant and kind = 'unique' and task = :task and key = :key
  and (expires_at is null or expires_at > :now);

-- name: drop_keys
-- The keys that an enqueue took for a job that it did not make.
delete from haulwright_keys where tenant = :tenant and kind = :kind and task = :task and key = :key and job_id = :job_id;

-- name: prune_keys
-- Keys whose time is over.
delete from haulwright_keys where (tenant, kind, task, key) in (
    select tenant, kind, task, key from haulwright_keys where expires_at <= :now order by expires_at limit :limit);

-- name: pass_key_on
-- The successor of a requeued job inherits the keys that name it.
update haulwright_keys set job_id = :successor
where tenant = :tenant and kind = 'job_key' and task = '' and key = :job_key and job_id = :id;
update haulwright_keys set job_id = :successor
where tenant = :tenant and kind = 'unique' and task = :task and key = :unique_key and job_id = :id;

-- name: scan_tenants
-- The (tenant, rank) pairs of a queue after the tenant :after and before :before, until :tenants tenants with a due job
-- are found. One index probe a pair: its first entry has its earliest run_at, so parked jobs are never walked.
-- A paused queue has no pairs. The next pair is looked for in two probes, of the same tenant and of the next one: a
-- comparison of (tenant, rank) as a row would start at the tenant's first job and walk all that are parked.
with recursive pair (tenant, rank, run_at, due, due_tenants, counted) as (
    select tenant, rank, run_at, run_at <= :now, run_at <= :now, run_at <= :now
    from (select j.tenant, j.rank, j.run_at
          from haulwright_jobs j
          where j.queue = :queue and j.state = 'queued' and j.tenant > :after and j.tenant < :before
            and not exists (select 1 from haulwright_queues q where q.name = :queue and q.paused_at is not null)
          order by j.tenant, j.rank, j.run_at, j.id limit 1)
    union all
    select next.tenant, next.rank, next.run_at, next.run_at <= :now,
           pair.due_tenants + (next.run_at <= :now and not (next.tenant = pair.tenant and pair.counted)),
           next.run_at <= :now or (next.tenant = pair.tenant and pair.counted)
    from pair join haulwright_jobs next on next.id = coalesce(
        (select j.id from haulwright_jobs j
         where j.queue = :queue and j.state = 'queued' and j.tenant = pair.tenant and j.rank > pair.rank
         order by j.rank, j.run_at, j.id limit 1),
        (select j.id from haulwright_jobs j
         where j.queue = :queue and j.state = 'queued' and j.tenant > pair.tenant and j.tenant < :before
         order by j.tenant, j.rank, j.run_at, j.id limit 1))
    where pair.due_tenants < :tenants or next.tenant = pair.tenant
)
select tenant, rank, run_at, due from pair;

-- name: claim
-- One ordered index scan a pair, bounded by run_at.
update haulwright_jobs
set state = 'running', fence = fence + 1, attempts = attempts + 1, worker_id = :worker_id, leased_at = :now,
    heartbeat_at = :now, lease_expires_at = :now + lease_us, waiting_on = null,
    started_at = coalesce(started_at, :now), updated_at = :now
where id in (
    select id from haulwright_jobs
    where queue = :queue and state = 'queued' and tenant = :tenant and rank = :rank and run_at <= :now
    order by run_at, id limit :limit)
returning id, fence, tenant, task, queue, args, attempts, max_attempts, losses, deferrals, job_key, -rank, run_at,
    created_at, leased_at, lease_us, timeout_us, deadline_at, concurrency_key, concurrency_limit, source, correlation_id, tags,
    requeued_from, event_fields, headers, worker_id, payload_bytes, audited;

-- name: claim_of_task
-- The next due job of one task of a tenant, for whoever runs it by hand. A paused queue gives none.
update haulwright_jobs
set state = 'running', fence = fence + 1, attempts = attempts + 1, worker_id = :worker_id, leased_at = :now,
    heartbeat_at = :now, lease_expires_at = :now + lease_us, waiting_on = null,
    started_at = coalesce(started_at, :now), updated_at = :now
where id = (
    select j.id from haulwright_jobs j
    where j.queue = :queue and j.state = 'queued' and j.tenant = :tenant and j.task = :task and j.run_at <= :now
      and not exists (select 1 from haulwright_queues q where q.name = :queue and q.paused_at is not null)
    order by j.rank, j.run_at, j.id limit 1)
returning id, fence, tenant, task, queue, args, attempts, max_attempts, losses, deferrals, job_key, -rank, run_at,
    created_at, leased_at, lease_us, timeout_us, deadline_at, concurrency_key, concurrency_limit, source, correlation_id, tags,
    requeued_from, event_fields, headers, worker_id, payload_bytes, audited;

-- name: claim_by_id
-- One job, for whoever runs it by hand: when it is due, or at once where :early says so.
update haulwright_jobs
set state = 'running', fence = fence + 1, attempts = attempts + 1, worker_id = :worker_id, leased_at = :now,
    heartbeat_at = :now, lease_expires_at = :now + lease_us, waiting_on = null,
    started_at = coalesce(started_at, :now), updated_at = :now
where id = :id and tenant = :tenant and state = 'queued' and (run_at <= :now or :early)
returning id, fence, tenant, task, queue, args, attempts, max_attempts, losses, deferrals, job_key, -rank, run_at,
    created_at, leased_at, lease_us, timeout_us, deadline_at, concurrency_key, concurrency_limit, source, correlation_id, tags,
    requeued_from, event_fields, headers, worker_id, payload_bytes, audited;

-- name: claim_some
-- Those of some jobs that are due, in queues that are served and not paused.
update haulwright_jobs
set state = 'running', fence = fence + 1, attempts = attempts + 1, worker_id = :worker_id, leased_at = :now,
    heartbeat_at = :now, lease_expires_at = :now + lease_us, waiting_on = null,
    started_at = coalesce(started_at, :now), updated_at = :now
where id in (
    select j.id from haulwright_jobs j
    where j.id in (select value from json_each(:ids)) and j.queue in (select value from json_each(:queues))
      and j.state = 'queued' and j.run_at <= :now
      and not exists (select 1 from haulwright_queues q where q.name = j.queue and q.paused_at is not null)
    order by j.rank, j.run_at, j.id limit :limit)
returning id, fence, tenant, task, queue, args, attempts, max_attempts, losses, deferrals, job_key, -rank, run_at,
    created_at, leased_at, lease_us, timeout_us, deadline_at, concurrency_key, concurrency_limit, source, correlation_id, tags,
    requeued_from, event_fields, headers, worker_id, payload_bytes, audited;

-- name: held
-- A lease as its claim gave it out, for whoever goes on under it.
select id, fence, tenant, task, queue, args, attempts, max_attempts, losses, deferrals, job_key, -rank, run_at, created_at,
    leased_at, lease_us, timeout_us, deadline_at, concurrency_key, concurrency_limit, source, correlation_id, tags,
    requeued_from, event_fields, headers, worker_id, payload_bytes, audited
from haulwright_jobs
where id = :id and fence = :fence and worker_id = :worker_id and state || '' = 'running';

-- name: renew
update haulwright_jobs set heartbeat_at = :now, lease_expires_at = :now + lease_us, updated_at = :now
from input
where haulwright_jobs.id = input.id and haulwright_jobs.fence = input.fence
  and haulwright_jobs.worker_id = input.worker_id and haulwright_jobs.state = 'running'
returning haulwright_jobs.id, cancel_reason, true;

-- name: set_lease_length
-- A lease is as long as the worker says that claimed it; who enqueued the job may have said otherwise.
update haulwright_jobs as j
set lease_us = input.lease_us, lease_expires_at = j.leased_at + input.lease_us
from input
where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state = 'running'
returning id;

-- name: lock
-- The first statement of every transaction that a run makes: it holds the job, or nothing comes back.
select id from haulwright_jobs where id = :id and fence = :fence and worker_id = :worker_id and state = 'running';

-- name: progress
update haulwright_jobs set progress = :progress, updated_at = :now
where id = :id and fence = :fence and worker_id = :worker_id and state = 'running'
returning id;

-- name: settle
-- The job leaves the hot table with its outcome: copied under its fence, then deleted under it.
insert into haulwright_history (
    id, tenant, task, queue, state, reason, rank, run_at, args, attempts, max_attempts, deferrals, losses, fence,
    job_key, source, unique_key, unique_scope, concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at, worker_id, leased_at, heartbeat_at, progress, error_class, error_code,
    error_message, error_frames, result, created_at, updated_at, started_at, finished_at, payload_bytes, audited)
select
    j.id, j.tenant, j.task, j.queue, input.state, input.reason, j.rank, j.run_at, j.args, j.attempts, j.max_attempts,
    j.deferrals, j.losses + input.losses, j.fence, j.job_key, j.source, j.unique_key, j.unique_scope, j.concurrency_key,
    j.concurrency_limit, j.correlation_id, j.tags, coalesce(input.event_fields, j.event_fields), j.headers,
    j.requeued_from, j.lease_us,
    j.timeout_us, j.deadline_at, j.worker_id, j.leased_at, j.heartbeat_at, j.progress,
    coalesce(input.error_class, j.error_class), coalesce(input.error_code, j.error_code),
    coalesce(input.error_message, j.error_message),
    case when input.error_class is null then j.error_frames else input.error_frames end,
    input.result, j.created_at, :now, j.started_at, :now,
    j.payload_bytes, j.audited
from input cross join haulwright_jobs j
where j.id = input.id and j.fence = input.fence and j.worker_id is input.worker_id and j.state = input.was;
delete from haulwright_jobs where id in (
    select j.id from input cross join haulwright_jobs j
    where j.id = input.id and j.fence = input.fence and j.worker_id is input.worker_id and j.state = input.was)
returning id, fence, worker_id, joined;

-- name: settle_successes
-- The same for first runs of one worker that succeeded, which most are. Those that others wait for are left to
-- `settle`, whose caller wakes them.
insert into haulwright_history (
    id, tenant, task, queue, state, rank, run_at, args, attempts, max_attempts, deferrals, losses, fence,
    job_key, source, unique_key, unique_scope, concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at, worker_id, leased_at, heartbeat_at, progress, error_class, error_code,
    error_message, error_frames, result, created_at, updated_at, started_at, finished_at, payload_bytes, audited)
select
    j.id, j.tenant, j.task, j.queue, 'succeeded', j.rank, j.run_at, j.args, j.attempts, j.max_attempts,
    j.deferrals, j.losses, j.fence, j.job_key, j.source, j.unique_key, j.unique_scope, j.concurrency_key,
    j.concurrency_limit, j.correlation_id, j.tags, coalesce(input.event_fields, j.event_fields), j.headers,
    j.requeued_from, j.lease_us, j.timeout_us, j.deadline_at, j.worker_id, j.leased_at, j.heartbeat_at, j.progress,
    j.error_class, j.error_code, j.error_message, j.error_frames,
    input.result, j.created_at, :now, j.started_at, :now, j.payload_bytes, j.audited
from input cross join haulwright_jobs j
where j.id = input.id and j.fence = 1 and j.worker_id = :worker_id and j.state = 'running' and not j.joined;
delete from haulwright_jobs
where id in (select id from input) and fence = 1 and worker_id = :worker_id and state = 'running' and not joined
returning id;

-- name: put_back
-- Retry, snooze, release and loss: the job is queued again. One that was asked to cancel is not.
update haulwright_jobs as j
set state = 'queued', run_at = :now + input.delay_us, attempts = j.attempts - input.refund,
    deferrals = j.deferrals + input.deferral, losses = j.losses + input.losses, waiting_on = input.waiting_on,
    worker_id = null, leased_at = null, heartbeat_at = null, lease_expires_at = null,
    error_class = coalesce(input.error_class, j.error_class), error_code = coalesce(input.error_code, j.error_code),
    error_message = coalesce(input.error_message, j.error_message),
    error_frames = case when input.error_class is null then j.error_frames else input.error_frames end, updated_at = :now
from input
where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state = 'running'
  and j.cancel_reason is null
returning id, fence;

-- name: ended
-- How a job looks after a settlement of this very fence. A loss would have been counted.
select id from haulwright_history where id = :id and fence = :fence and worker_id = :worker_id and losses = :losses
union all
select id from haulwright_jobs where id = :id and fence = :fence and losses = :losses and state = 'queued';

-- name: asked_to_cancel
select j.id, j.fence, j.worker_id, j.cancel_reason
from input cross join haulwright_jobs j
where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state = 'running'
  and j.cancel_reason is not null;

-- name: stale
-- Leases that ran out, the longest first.
select id, fence, tenant, task, attempts, max_attempts, losses, cancel_reason, worker_id, leased_at, heartbeat_at,
       concurrency_key, source, event_fields, audited
from haulwright_jobs
where state = 'running' and lease_expires_at < :now
order by lease_expires_at limit :limit;

-- name: ending
-- The database's time, and the leases that have run out or will soon: within :within_us, and in the second half of their
-- time, which a worker that lives never lets come. Those that ended before :since are left out.
select :now, ending.*
from (select 1) left join (
    select id, fence, worker_id, heartbeat_at, lease_expires_at, lease_us from haulwright_jobs
    where state = 'running' and lease_expires_at >= :since and lease_expires_at < :now + :within_us
      and lease_expires_at - lease_us / 2 < :now
    order by lease_expires_at limit :limit) ending on true;

-- name: silent
-- Leases that have run out, and whose heartbeat is the one that was watched.
select j.id, j.fence, j.tenant, j.task, j.attempts, j.max_attempts, j.losses, j.cancel_reason, j.worker_id, j.leased_at,
       j.heartbeat_at, j.concurrency_key, j.source, j.event_fields, j.audited
from input cross join haulwright_jobs j
where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state = 'running'
  and j.heartbeat_at = input.heartbeat_at and j.lease_expires_at < :now
order by j.id;

-- name: leases_of
-- Leases of workers that are known to be gone.
select id, fence, tenant, task, attempts, max_attempts, losses, cancel_reason, worker_id, leased_at, heartbeat_at,
       concurrency_key, source, event_fields, audited
from haulwright_jobs
where state = 'running' and worker_id in (select value from json_each(:workers))
order by lease_expires_at limit :limit;

-- name: held_by
-- How many leases these workers hold, when one was last taken back from each, and what each is called. One statement, so one moment: a lease
-- that another sweep takes back just now is seen in the one place or in the other.
select j.worker_id, count(*), (select w.lost_at from haulwright_workers w where w.id = j.worker_id),
       (select w.name from haulwright_workers w where w.id = j.worker_id)
from haulwright_jobs j
where j.state = 'running' and j.worker_id in (select value from json_each(:workers))
group by j.worker_id;

-- name: overdue
-- Jobs that waited past their deadline, and what pauses that are over took from each and are not in its deadline yet.
-- Before a paused queue or source nothing is overdue.
select j.id, j.fence, j.tenant, j.attempts,
    coalesce((select sum(p.resumed_at - max(p.paused_at, coalesce(j.pauses_until, j.created_at))) from haulwright_pauses p
              where p.kind = 'queue' and p.name = j.queue and p.resumed_at > coalesce(j.pauses_until, j.created_at)), 0)
    + coalesce((select sum(p.resumed_at - max(p.paused_at, coalesce(j.pauses_until, j.created_at)))
                from haulwright_pauses p
                where p.kind = 'source' and p.name = j.source and p.resumed_at > coalesce(j.pauses_until, j.created_at)), 0)
    + coalesce((select s.paused_until - max(s.paused_at, coalesce(j.pauses_until, j.created_at)) from haulwright_sources s
                where s.key = j.source and s.paused_at < s.paused_until  -- a pause for a time, which nobody had to end
                  and s.paused_until > coalesce(j.pauses_until, j.created_at)), 0),
    j.error_class, j.error_code, j.error_message, j.error_frames, j.waiting_on
from haulwright_jobs j
where j.state = 'queued' and j.deadline_at <= :now
  and not exists (select 1 from haulwright_queues q where q.name = j.queue and q.paused_at is not null)
  and coalesce((select s.paused_until from haulwright_sources s where s.key = j.source), 0) <= :now
order by j.deadline_at limit :limit;

-- name: extend_deadlines
-- What pauses took from waiting jobs is given back to them, and once: also where the clock went back behind a pause's end.
update haulwright_jobs as j
set deadline_at = j.deadline_at + input.paused_us,
    pauses_until = max(:now,
        coalesce((select max(p.resumed_at) from haulwright_pauses p where p.kind = 'queue' and p.name = j.queue), 0),
        coalesce((select max(p.resumed_at) from haulwright_pauses p where p.kind = 'source' and p.name = j.source), 0))
from input
where j.id = input.id and j.fence = input.fence and j.state = 'queued';

-- name: lock_any
-- One active job of a tenant, whatever it does.
select id, fence, state, tenant, concurrency_key from haulwright_jobs
where id = :id and (:tenant is null or tenant = :tenant);

-- name: ask_to_cancel
update haulwright_jobs set cancel_reason = coalesce(cancel_reason, :reason), updated_at = :now
where id = :id and fence = :fence and state = 'running'
returning id;

-- name: retry
-- One waiting job is due at once, whatever it waited for. SQLite's bell is the file's own log.
update haulwright_jobs set run_at = :now, waiting_on = null, updated_at = :now
where id = :id and fence = :fence and state = 'queued' and run_at > :now
returning attempts;

-- name: take_permit
-- The lowest free number of a key.
insert into haulwright_permits (key, number, job_id, fence, worker_id, taken_at)
select :key, free.number, :id, :fence, :worker_id, :now
from (with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < :limit)
      select number from numbers) free
where not exists (select 1 from haulwright_permits p where p.key = :key and p.number = free.number)
order by free.number limit 1
on conflict (key, number) do nothing
returning number;

-- name: free_permits
delete from haulwright_permits where (key, number) in (
    select p.key, p.number from input cross join haulwright_permits p
    where p.job_id = input.id and p.fence = input.fence and p.worker_id = input.worker_id)
returning key;

-- name: wake
-- Jobs that wait for a gate are due at once, the oldest first, as many as it admits.
update haulwright_jobs set run_at = :now, updated_at = :now
where id in (
    select id from haulwright_jobs
    where waiting_on = :gate and state = 'queued' and run_at > :now
    order by id limit :limit)
returning id;

-- name: dead_letter
-- One dead letter of a tenant.
select id, tenant, task, queue, rank, args, max_attempts, job_key, source, unique_key, unique_scope, concurrency_key,
       concurrency_limit, correlation_id, tags, event_fields, headers,
       lease_us, timeout_us, deadline_at, run_at, state, requeued_to, created_at, payload_bytes, audited
from haulwright_history
where id = :id and (:tenant is null or tenant = :tenant);

-- name: mark_requeued
update haulwright_history set requeued_to = :successor, updated_at = :now
where id = :id and state = 'dead' and requeued_to is null
returning id;

-- name: prune
-- Finished jobs of one state older than an age, the oldest first.
delete from haulwright_history where id in (
    select id from haulwright_history
    where finished_at < :now - :age_us and state = :state and (id < :spared_start or id >= :spared_end)
    order by finished_at limit :limit)
returning tenant, job_key, requeued_to, case when payload_bytes is not null then id end;

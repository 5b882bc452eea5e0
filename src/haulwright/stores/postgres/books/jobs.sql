-- Jobs on PostgreSQL. Batches travel as arrays, one per column; ids are cast, for a text parameter has no type of its own.
--
-- `state || '' = 'running'`: where a job is found by its id, its state is compared through an expression, on purpose, so that
-- no index on the state can serve it. In an empty table the index of the running jobs looks as good as the primary key, and
-- the plan that is made then is kept when the table has become long (decision 11).

-- name: enqueue
-- A conflict with the index of active unique keys writes nothing. The row is not returned, which would take its time.
insert into haulwright_jobs (
    id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
    concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at,
    created_at, updated_at, audited)
select
    :id::uuid, :tenant, :task, :queue, 'queued', :rank::smallint, coalesce(:run_at::bigint, clock.now + :delay_us::bigint),
    :args, :max_attempts::int, :job_key, :source, :unique_key, :unique_scope, :concurrency_key, :concurrency_limit::int,
    :correlation_id, :tags, :event_fields, :headers, :requeued_from::uuid, :lease_us::bigint, :timeout_us::bigint,
    greatest(coalesce(:run_at::bigint, clock.now + :delay_us::bigint), clock.now) + :deadline_us::bigint,
    clock.now, clock.now, :audited::bool
from (select haulwright_now(:now::bigint) as now) clock
where not :notify::bool or pg_notify('haulwright', '') is not null
on conflict (tenant, task, unique_key) where unique_scope = 'while_active' do nothing;

-- name: enqueue_plain
-- A job without what most jobs do without.
insert into haulwright_jobs (
    id, tenant, task, queue, rank, run_at, args, max_attempts, job_key, tags, lease_us, deadline_at, created_at, updated_at)
select
    :id::uuid, :tenant, :task, :queue, :rank::smallint, clock.now + :delay_us::bigint, :args, :max_attempts::int, :id::text,
    :tags, :lease_us::bigint, clock.now + :delay_us::bigint + :deadline_us::bigint, clock.now, clock.now
from (select haulwright_now(:now::bigint) as now) clock
where not :notify::bool or pg_notify('haulwright', '') is not null;

-- name: enqueue_keyed
-- A job, the one key that outlives it, and what is told of it, in one trip. Its unique key is that one, or none. Nothing
-- is written while somebody else's key still holds.
with taken as (
    insert into haulwright_keys as held (tenant, kind, task, key, job_id, args_digest, expires_at)
    values (:tenant, :kind, :key_task, :key, :id::uuid, :args_digest, haulwright_now(:now::bigint) + :period_us::bigint)
    on conflict (tenant, kind, task, key) do update
        set job_id = excluded.job_id, args_digest = excluded.args_digest, expires_at = excluded.expires_at
        where held.expires_at <= haulwright_now(:now::bigint)
    returning job_id
), inserted as (
    insert into haulwright_jobs (
        id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
        concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers, requeued_from, lease_us, timeout_us,
        deadline_at, created_at, updated_at, audited)
    select
        taken.job_id, :tenant, :task, :queue, 'queued', :rank::smallint,
        coalesce(:run_at::bigint, clock.now + :delay_us::bigint), :args, :max_attempts::int, :job_key, :source,
        :unique_key, :unique_scope, :concurrency_key, :concurrency_limit::int, :correlation_id, :tags, :event_fields, :headers,
        :requeued_from::uuid, :lease_us::bigint, :timeout_us::bigint,
        greatest(coalesce(:run_at::bigint, clock.now + :delay_us::bigint), clock.now) + :deadline_us::bigint,
        clock.now, clock.now, :audited::bool
    from taken cross join (select haulwright_now(:now::bigint) as now) clock
    where not :notify::bool or pg_notify('haulwright', '') is not null
    returning id, created_at
), event as (
    insert into haulwright_events (at, tenant, name, job_id, data)
    select created_at, :tenant, :event, id, :event_data from inserted where :event::text is not null
)
select id from inserted;

-- name: enqueue_many
-- Several jobs, some of which may find their unique key taken: by others, or by one before them in the batch.
insert into haulwright_jobs (
    id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
    concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at,
    created_at, updated_at, audited)
select
    n.id, n.tenant, n.task, n.queue, 'queued', n.rank, coalesce(n.run_at, clock.now + n.delay_us), n.args,
    n.max_attempts, n.job_key, n.source, n.unique_key, n.unique_scope, n.concurrency_key, n.concurrency_limit,
    n.correlation_id, n.tags, n.event_fields, n.headers, n.requeued_from, n.lease_us, n.timeout_us,
    greatest(coalesce(n.run_at, clock.now + n.delay_us), clock.now) + n.deadline_us, clock.now, clock.now,
    n.audited
from (select haulwright_now(:now::bigint) as now) clock
cross join unnest(
    :id::uuid[], :tenant::text[], :task::text[], :queue::text[], :rank::smallint[], :run_at::bigint[],
    :delay_us::bigint[], :args::text[], :max_attempts::int[], :job_key::text[], :source::text[], :unique_key::text[],
    :unique_scope::text[], :concurrency_key::text[], :concurrency_limit::int[], :correlation_id::text[],
    :tags::text[], :event_fields::text[], :headers::text[], :requeued_from::uuid[], :lease_us::bigint[], :timeout_us::bigint[], :deadline_us::bigint[],
    :audited::bool[]
) as n (id, tenant, task, queue, rank, run_at, delay_us, args, max_attempts, job_key, source, unique_key,
        unique_scope, concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers, requeued_from, lease_us,
        timeout_us, deadline_us, audited)
on conflict (tenant, task, unique_key) where unique_scope = 'while_active' do nothing
returning id, case when :notify::bool then pg_notify('haulwright', '') end;

-- name: enqueue_with_events
-- Jobs that find no key taken, and of each the event that says who enqueued it: one statement, so one trip for all of it.
with queued as (
    insert into haulwright_jobs (
        id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, source, unique_key, unique_scope,
        concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
        requeued_from, lease_us, timeout_us, deadline_at,
        created_at, updated_at, audited)
    select
        n.id, n.tenant, n.task, n.queue, 'queued', n.rank, coalesce(n.run_at, clock.now + n.delay_us), n.args,
        n.max_attempts, n.job_key, n.source, n.unique_key, n.unique_scope, n.concurrency_key, n.concurrency_limit,
        n.correlation_id, n.tags, n.event_fields, n.headers, n.requeued_from, n.lease_us, n.timeout_us,
        greatest(coalesce(n.run_at, clock.now + n.delay_us), clock.now) + n.deadline_us, clock.now, clock.now,
        n.audited
    from (select haulwright_now(:now::bigint) as now) clock
    cross join unnest(
        :id::uuid[], :tenant::text[], :task::text[], :queue::text[], :rank::smallint[], :run_at::bigint[],
        :delay_us::bigint[], :args::text[], :max_attempts::int[], :job_key::text[], :source::text[], :unique_key::text[],
        :unique_scope::text[], :concurrency_key::text[], :concurrency_limit::int[], :correlation_id::text[],
        :tags::text[], :event_fields::text[], :headers::text[], :requeued_from::uuid[], :lease_us::bigint[], :timeout_us::bigint[], :deadline_us::bigint[],
        :audited::bool[]
    ) as n (id, tenant, task, queue, rank, run_at, delay_us, args, max_attempts, job_key, source, unique_key,
            unique_scope, concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers, requeued_from, lease_us,
            timeout_us, deadline_us, audited)
)
insert into haulwright_events (at, tenant, name, job_id, actor, data)
select clock.now, e.tenant, e.event, e.id, e.actor, e.event_data
from (select haulwright_now(:now::bigint) as now) clock
cross join unnest(:id::uuid[], :tenant::text[], :event::text[], :actor::text[], :event_data::text[])
    as e (id, tenant, event, actor, event_data)
where not :notify::bool or pg_notify('haulwright', '') is not null;

-- name: begin_load
-- The time by which a bulk load is written, and the notice of it, in one trip.
select haulwright_now(:now::bigint), case when :notify::bool then pg_notify('haulwright', '') end;

-- name: notify
-- Workers look for jobs when this transaction commits.
select pg_notify('haulwright', '');

-- name: load
-- Jobs of which none can be a duplicate, in the order of these columns.
copy haulwright_jobs (
    id, args, job_key, tenant, task, queue, rank, run_at, max_attempts, source, concurrency_key, concurrency_limit,
    correlation_id, tags, event_fields, headers, lease_us, timeout_us, deadline_at, created_at, updated_at)
from stdin;

-- name: active_twin
-- The job that holds an active unique key.
select id, case when payload_bytes is null then args else (select p.args from haulwright_payloads p where p.job_id = id) end
from haulwright_jobs
where tenant = :tenant and task = :task and unique_key = :key and unique_scope = 'while_active';

-- name: take_key
-- Take a key that outlives its job. Nothing comes back while somebody else's still holds.
insert into haulwright_keys as held (tenant, kind, task, key, job_id, args_digest, expires_at)
values (:tenant, :kind, :task, :key, :job_id::uuid, :args_digest, haulwright_now(:now::bigint) + :period_us::bigint)
on conflict (tenant, kind, task, key) do update
    set job_id = excluded.job_id, args_digest = excluded.args_digest, expires_at = excluded.expires_at
    where held.expires_at <= haulwright_now(:now::bigint)
returning job_id;

-- name: held_key
select job_id, args_digest from haulwright_keys
where tenant = :tenant and kind = :kind and task = :task and key = :key;

-- name: unique_holder
-- The job that a unique key stands for which outlives its job, while its time is not over.
select job_id from haulwright_keys
where tenant = :tenant and kind = 'unique' and task = :task and key = :key
  and (expires_at is null or expires_at > haulwright_now(:now::bigint));

-- name: drop_keys
-- The keys that an enqueue took for a job that it did not make.
delete from haulwright_keys
where tenant = :tenant and kind = :kind and task = :task and key = :key and job_id = :job_id::uuid;

-- name: prune_keys
-- Keys whose time is over.
delete from haulwright_keys where ctid = any(array(
    select ctid from haulwright_keys where expires_at <= haulwright_now(:now::bigint)
    order by expires_at limit :limit for update skip locked));

-- name: pass_key_on
-- The successor of a requeued job inherits the keys that name it.
update haulwright_keys set job_id = :successor::uuid
where tenant = :tenant and job_id = :id::uuid
  and (kind, task, key) in (('job_key', '', :job_key), ('unique', :task, :unique_key));

-- name: scan_tenants
-- The (tenant, rank) pairs of a queue after the tenant :after and before :before, until :tenants tenants with a due job
-- are found. One index probe a pair: its first entry has its earliest run_at, so parked jobs are never walked.
-- A paused queue has no pairs.
with recursive pair (tenant, rank, run_at, due, due_tenants, counted) as (
    select start.tenant, start.rank, start.run_at, start.due, start.due::int, start.due
    from (
        select j.tenant, j.rank, j.run_at, j.run_at <= (select haulwright_now(:now::bigint)) as due from haulwright_jobs j
        where j.queue = :queue and j.state = 'queued' and j.tenant > :after and j.tenant < :before
          and not exists (select 1 from haulwright_queues q where q.name = :queue and q.paused_at is not null)
        order by j.tenant, j.rank, j.run_at, j.id limit 1) start
    union all
    select next.tenant, next.rank, next.run_at, next.due,
           pair.due_tenants + (next.due and not (next.tenant = pair.tenant and pair.counted))::int,
           next.due or (next.tenant = pair.tenant and pair.counted)
    from pair cross join lateral (
        select j.tenant, j.rank, j.run_at, j.run_at <= (select haulwright_now(:now::bigint)) as due from haulwright_jobs j
        where j.queue = :queue and j.state = 'queued'
          and (j.tenant, j.rank) > (pair.tenant, pair.rank) and j.tenant < :before
        order by j.tenant, j.rank, j.run_at, j.id limit 1) next
    where pair.due_tenants < :tenants or next.tenant = pair.tenant
)
select tenant, rank, run_at, due from pair;

-- name: scan_tenants_after
-- The same behind a trail.
-- The pairs :past are probed from where the last claim ended: what was claimed from them lately lies dead at their front,
-- and is stepped over for as long as anybody's snapshot is open. The walk goes through the gaps between them. A gap that
-- ends within a tenant is two probes: a row that is bounded from above is no end to an index scan where the first column
-- is the same, and all jobs of the pair at its end would be read.
with recursive past (tenant, rank, run_at, id) as (
    select input.tenant collate "C", input.rank, input.run_at, input.id
    from unnest(:past_tenant::text[], :past_rank::smallint[], :past_run_at::bigint[], :past_id::uuid[])
        as input (tenant, rank, run_at, id)
    where input.tenant collate "C" > :after and input.tenant collate "C" < :before
), edge (tenant, rank) as (
    select :after::text collate "C", 32767::smallint union all select tenant, rank from past
), gap (tenant, rank, to_tenant, to_rank) as (
    select tenant, rank, lead(tenant, 1, :before::text collate "C") over ordered, lead(rank) over ordered
    from edge
    where not exists (select 1 from haulwright_queues q where q.name = :queue and q.paused_at is not null)
    window ordered as (order by tenant, rank)
), pair (tenant, rank, run_at, due, due_tenants, counted, to_tenant, to_rank) as (
    select start.tenant, start.rank, start.run_at, start.due, start.due::int, start.due, gap.to_tenant, gap.to_rank
    from gap cross join lateral (
        select tenant, rank, run_at, run_at <= (select haulwright_now(:now::bigint)) as due from (
            (select j.tenant, j.rank, j.run_at from haulwright_jobs j
             where j.queue = :queue and j.state = 'queued'
               and (j.tenant, j.rank) > (gap.tenant, gap.rank) and j.tenant < gap.to_tenant
             order by j.tenant, j.rank, j.run_at, j.id limit 1)
            union all
            (select j.tenant, j.rank, j.run_at from haulwright_jobs j
             where gap.to_rank is not null
               and j.queue = :queue and j.state = 'queued' and j.tenant = gap.to_tenant and j.rank < gap.to_rank
               and j.rank > case when gap.tenant = gap.to_tenant then gap.rank::int else -32769 end
             order by j.rank, j.run_at, j.id limit 1)) nearest
        limit 1) start
    union all
    select next.tenant, next.rank, next.run_at, next.due,
           pair.due_tenants + (next.due and not (next.tenant = pair.tenant and pair.counted))::int,
           next.due or (next.tenant = pair.tenant and pair.counted), pair.to_tenant, pair.to_rank
    from pair cross join lateral (
        select tenant, rank, run_at, run_at <= (select haulwright_now(:now::bigint)) as due from (
            (select j.tenant, j.rank, j.run_at from haulwright_jobs j
             where j.queue = :queue and j.state = 'queued'
               and (j.tenant, j.rank) > (pair.tenant, pair.rank) and j.tenant < pair.to_tenant
             order by j.tenant, j.rank, j.run_at, j.id limit 1)
            union all
            (select j.tenant, j.rank, j.run_at from haulwright_jobs j
             where pair.to_rank is not null
               and j.queue = :queue and j.state = 'queued' and j.tenant = pair.to_tenant and j.rank < pair.to_rank
               and j.rank > case when pair.tenant = pair.to_tenant then pair.rank::int else -32769 end
             order by j.rank, j.run_at, j.id limit 1)) nearest
        limit 1) next
    where pair.due_tenants < :tenants or next.tenant = pair.tenant
)
select tenant, rank, run_at, due from pair
union all
select past.tenant, past.rank, next.run_at, next.run_at <= (select haulwright_now(:now::bigint))
from past cross join lateral (
    select j.run_at from haulwright_jobs j
    where j.queue = :queue and j.state = 'queued' and j.tenant = past.tenant and j.rank = past.rank
      and (j.run_at, j.id) > (past.run_at, past.id)
    order by j.run_at, j.id limit 1) next
where exists (select 1 from gap);

-- name: claim
-- Each pair is one ordered index scan bounded by run_at, from where the last claim ended; the ids travel as an array, for a join may hash the table.
-- The clock stands in subselects: they are asked once a statement, and not once a row.
-- Jobs before which a gate stands are taken only where :gated says so; otherwise one of them in the batch leaves all.
-- Where arguments are large, the first that have room in :bytes are taken, and at least one.
with picked as materialized (
    select chosen.id, chosen.gated, chosen.payload_bytes
    from unnest(:tenant::text[], :rank::smallint[], :limit::int[], :past_run_at::bigint[], :past_id::uuid[])
        as share (tenant, rank, most, past_run_at, past_id)
    cross join lateral (
        select id, concurrency_key is not null or source is not null or audited as gated, payload_bytes from haulwright_jobs
        where queue = :queue and state = 'queued' and tenant = share.tenant and rank = share.rank
          and run_at <= (select haulwright_now(:now::bigint)) and (run_at, id) > (share.past_run_at, share.past_id)
        order by run_at, id limit share.most for update skip locked) chosen
    limit :batch)
update haulwright_jobs j
set state = 'running', fence = j.fence + 1, attempts = j.attempts + 1, worker_id = :worker_id::uuid,
    leased_at = (select haulwright_now(:now::bigint)), heartbeat_at = (select haulwright_now(:now::bigint)),
    lease_expires_at = (select haulwright_now(:now::bigint)) + j.lease_us, waiting_on = null,
    started_at = coalesce(j.started_at, (select haulwright_now(:now::bigint))), updated_at = (select haulwright_now(:now::bigint))
where j.id = any(case
    when not :gated::bool and (select bool_or(gated) from picked) then null
    when (select bool_and(payload_bytes is null) from picked) then array(select id from picked)
    else array(
        select line.id
        from (select id, sum(payload_bytes) over (rows between unbounded preceding and 1 preceding) as ahead from picked) line
        where coalesce(line.ahead, 0) < :bytes::bigint)
    end)
returning j.id, j.fence, j.tenant, j.task, j.queue, j.args, j.attempts, j.max_attempts, j.losses, j.deferrals,
    j.job_key, -j.rank, j.run_at, j.created_at, j.leased_at, j.lease_us, j.timeout_us, j.deadline_at, j.concurrency_key,
    j.concurrency_limit, j.source, j.correlation_id, j.tags, j.requeued_from, j.event_fields, j.headers, j.worker_id,
    j.payload_bytes, j.audited;

-- name: claim_single_tenant
-- The walk, and at once the claim of what it found where one pair alone has something due: a lone job takes one trip.
-- Each pair comes with the jobs that were taken from it. Where several have something due nothing is taken, for who gets
-- how much is not decided here; nor where a gate stands before one of the jobs.
with recursive pair (tenant, rank, run_at, due, due_tenants, counted) as (
    select start.tenant, start.rank, start.run_at, start.due, start.due::int, start.due
    from (
        select j.tenant, j.rank, j.run_at, j.run_at <= (select haulwright_now(:now::bigint)) as due from haulwright_jobs j
        where j.queue = :queue and j.state = 'queued' and j.tenant > :after and j.tenant < :before
          and not exists (select 1 from haulwright_queues q where q.name = :queue and q.paused_at is not null)
        order by j.tenant, j.rank, j.run_at, j.id limit 1) start
    union all
    select next.tenant, next.rank, next.run_at, next.due,
           pair.due_tenants + (next.due and not (next.tenant = pair.tenant and pair.counted))::int,
           next.due or (next.tenant = pair.tenant and pair.counted)
    from pair cross join lateral (
        select j.tenant, j.rank, j.run_at, j.run_at <= (select haulwright_now(:now::bigint)) as due from haulwright_jobs j
        where j.queue = :queue and j.state = 'queued'
          and (j.tenant, j.rank) > (pair.tenant, pair.rank) and j.tenant < :before
        order by j.tenant, j.rank, j.run_at, j.id limit 1) next
    where pair.due_tenants < :tenants or next.tenant = pair.tenant
), ready as materialized (
    select tenant, rank from pair where due
), picked as materialized (
    select chosen.id, chosen.gated, chosen.payload_bytes
    from ready cross join lateral (
        select id, concurrency_key is not null or source is not null or audited as gated, payload_bytes from haulwright_jobs
        where queue = :queue and state = 'queued' and tenant = ready.tenant and rank = ready.rank
          and run_at <= (select haulwright_now(:now::bigint))
        order by run_at, id limit :batch for update skip locked) chosen
    where (select count(*) from ready) = 1
), taken as (
    update haulwright_jobs j
    set state = 'running', fence = j.fence + 1, attempts = j.attempts + 1, worker_id = :worker_id::uuid,
        leased_at = (select haulwright_now(:now::bigint)), heartbeat_at = (select haulwright_now(:now::bigint)),
        lease_expires_at = (select haulwright_now(:now::bigint)) + j.lease_us, waiting_on = null,
        started_at = coalesce(j.started_at, (select haulwright_now(:now::bigint))),
        updated_at = (select haulwright_now(:now::bigint))
    where j.id = any(case
        when (select bool_or(gated) from picked) then null
        when (select bool_and(payload_bytes is null) from picked) then array(select id from picked)
        else array(
            select line.id
            from (select id, sum(payload_bytes) over (rows between unbounded preceding and 1 preceding) as ahead
                  from picked) line
            where coalesce(line.ahead, 0) < :bytes::bigint)
        end)
    returning j.id, j.fence, j.tenant, j.task, j.queue, j.args, j.attempts, j.max_attempts, j.losses, j.deferrals,
        j.job_key, -j.rank, j.run_at, j.created_at, j.leased_at, j.lease_us, j.timeout_us, j.deadline_at,
        j.concurrency_key, j.concurrency_limit, j.source, j.correlation_id, j.tags, j.requeued_from, j.event_fields, j.headers,
        j.worker_id, j.payload_bytes, j.audited
)
select pair.tenant, pair.rank, pair.run_at, pair.due, taken.* from pair left join taken on pair.due;

-- name: claim_of_task
-- The next due job of one task of a tenant, for whoever runs it by hand. A paused queue gives none.
update haulwright_jobs j
set state = 'running', fence = j.fence + 1, attempts = j.attempts + 1, worker_id = :worker_id::uuid,
    leased_at = haulwright_now(:now::bigint), heartbeat_at = haulwright_now(:now::bigint),
    lease_expires_at = haulwright_now(:now::bigint) + j.lease_us, waiting_on = null,
    started_at = coalesce(j.started_at, haulwright_now(:now::bigint)), updated_at = haulwright_now(:now::bigint)
where j.id = (
    select n.id from haulwright_jobs n
    where n.queue = :queue and n.state = 'queued' and n.tenant = :tenant and n.task = :task
      and n.run_at <= (select haulwright_now(:now::bigint))
      and not exists (select 1 from haulwright_queues q where q.name = :queue and q.paused_at is not null)
    order by n.rank, n.run_at, n.id limit 1 for update of n skip locked)
returning j.id, j.fence, j.tenant, j.task, j.queue, j.args, j.attempts, j.max_attempts, j.losses, j.deferrals,
    j.job_key, -j.rank, j.run_at, j.created_at, j.leased_at, j.lease_us, j.timeout_us, j.deadline_at, j.concurrency_key,
    j.concurrency_limit, j.source, j.correlation_id, j.tags, j.requeued_from, j.event_fields, j.headers, j.worker_id,
    j.payload_bytes, j.audited;

-- name: claim_by_id
-- One job, for whoever runs it by hand: when it is due, or at once where :early says so.
update haulwright_jobs j
set state = 'running', fence = j.fence + 1, attempts = j.attempts + 1, worker_id = :worker_id::uuid,
    leased_at = haulwright_now(:now::bigint), heartbeat_at = haulwright_now(:now::bigint),
    lease_expires_at = haulwright_now(:now::bigint) + j.lease_us, waiting_on = null,
    started_at = coalesce(j.started_at, haulwright_now(:now::bigint)), updated_at = haulwright_now(:now::bigint)
where j.id = :id::uuid and j.tenant = :tenant and j.state = 'queued'
  and (j.run_at <= (select haulwright_now(:now::bigint)) or :early::bool)
returning j.id, j.fence, j.tenant, j.task, j.queue, j.args, j.attempts, j.max_attempts, j.losses, j.deferrals,
    j.job_key, -j.rank, j.run_at, j.created_at, j.leased_at, j.lease_us, j.timeout_us, j.deadline_at, j.concurrency_key,
    j.concurrency_limit, j.source, j.correlation_id, j.tags, j.requeued_from, j.event_fields, j.headers, j.worker_id,
    j.payload_bytes, j.audited;

-- name: claim_some
-- Those of some jobs that are due, in queues that are served and not paused.
with picked as materialized (
    select j.id from haulwright_jobs j
    where j.id = any(:ids::uuid[]) and j.queue = any(:queues::text[])
      and j.state || '' = 'queued' and j.run_at <= (select haulwright_now(:now::bigint))
      and not exists (select 1 from haulwright_queues q where q.name = j.queue and q.paused_at is not null)
    order by j.rank, j.run_at, j.id limit :limit for update of j skip locked)
update haulwright_jobs j
set state = 'running', fence = j.fence + 1, attempts = j.attempts + 1, worker_id = :worker_id::uuid,
    leased_at = (select haulwright_now(:now::bigint)), heartbeat_at = (select haulwright_now(:now::bigint)),
    lease_expires_at = (select haulwright_now(:now::bigint)) + j.lease_us, waiting_on = null,
    started_at = coalesce(j.started_at, (select haulwright_now(:now::bigint))), updated_at = (select haulwright_now(:now::bigint))
where j.id = any(array(select id from picked))
returning j.id, j.fence, j.tenant, j.task, j.queue, j.args, j.attempts, j.max_attempts, j.losses, j.deferrals,
    j.job_key, -j.rank, j.run_at, j.created_at, j.leased_at, j.lease_us, j.timeout_us, j.deadline_at, j.concurrency_key,
    j.concurrency_limit, j.source, j.correlation_id, j.tags, j.requeued_from, j.event_fields, j.headers, j.worker_id,
    j.payload_bytes, j.audited;

-- name: held
-- A lease as its claim gave it out, for whoever goes on under it.
select id, fence, tenant, task, queue, args, attempts, max_attempts, losses, deferrals, job_key, -rank, run_at, created_at,
    leased_at, lease_us, timeout_us, deadline_at, concurrency_key, concurrency_limit, source, correlation_id, tags,
    requeued_from, event_fields, headers, worker_id, payload_bytes, audited
from haulwright_jobs
where id = :id::uuid and fence = :fence and worker_id = :worker_id::uuid and state || '' = 'running';

-- name: renew
-- Takes what it can at once: a row that a transaction holds (a run's own commit may last) keeps no neighbour waiting. All
-- that are held come back, and whether they were renewed; one that is locked cannot be taken back meanwhile.
with held as materialized (
    select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence,
           unnest(:worker_id::uuid[]) as worker_id
), unlocked as materialized (
    select j.id from held
    join haulwright_jobs j on j.id = held.id and j.fence = held.fence and j.worker_id = held.worker_id
        and j.state || '' = 'running'
    order by j.id for update of j skip locked
), renewed as (
    update haulwright_jobs j
    set heartbeat_at = (select haulwright_now(:now::bigint)),
        lease_expires_at = (select haulwright_now(:now::bigint)) + j.lease_us,
        updated_at = (select haulwright_now(:now::bigint))
    where j.id = any(array(select id from unlocked))
    returning j.id, j.cancel_reason
)
select held.id, coalesce(renewed.cancel_reason, kept.cancel_reason), renewed.id is not null
from held
join haulwright_jobs kept on kept.id = held.id and kept.fence = held.fence and kept.worker_id = held.worker_id
    and kept.state || '' = 'running'
left join renewed on renewed.id = held.id;

-- name: set_lease_length
-- A lease is as long as the worker says that claimed it; who enqueued the job may have said otherwise.
update haulwright_jobs j
set lease_us = input.lease_us, lease_expires_at = j.leased_at + input.lease_us
from (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:worker_id::uuid[]) as worker_id,
             unnest(:lease_us::bigint[]) as lease_us order by 1) input
where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state || '' = 'running'
returning j.id;

-- name: lock
-- The first statement of every transaction that a run makes: it holds the job, or nothing comes back.
select id from haulwright_jobs
where id = :id::uuid and fence = :fence and worker_id = :worker_id::uuid and state || '' = 'running' for update;

-- name: progress
update haulwright_jobs set progress = :progress, updated_at = haulwright_now(:now::bigint)
where id = :id::uuid and fence = :fence and worker_id = :worker_id::uuid and state || '' = 'running'
returning id;

-- name: settle
-- The job leaves the hot table with its outcome. The lists stand in a subselect: otherwise the generic plan of the
-- prepared statement walks the lease index with all its dead entries.
with input as (
    select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence,
           unnest(:worker_id::uuid[]) as worker_id, unnest(:was::text[]) as was,
           unnest(:state::text[]) as state, unnest(:reason::text[]) as reason, unnest(:result::text[]) as result,
           unnest(:event_fields::text[]) as event_fields, unnest(:losses::int[]) as losses,
           unnest(:error_class::text[]) as error_class, unnest(:error_code::text[]) as error_code,
           unnest(:error_message::text[]) as error_message, unnest(:error_frames::text[]) as error_frames
    order by 1
), deleted as (
    delete from haulwright_jobs j using input
    where j.id = input.id and j.fence = input.fence and j.worker_id is not distinct from input.worker_id
      and j.state || '' = input.was
    returning j.*, input.state as outcome, input.reason, input.result, input.event_fields as result_facts,
        input.losses as more_losses, input.error_class as last_class, input.error_code as last_code,
        input.error_message as last_message, input.error_frames as last_frames
), moved as (
    insert into haulwright_history (
        id, tenant, task, queue, state, reason, rank, run_at, args, attempts, max_attempts, deferrals, losses, fence,
        job_key, source, unique_key, unique_scope, concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
        requeued_from, lease_us, timeout_us, deadline_at, worker_id, leased_at, heartbeat_at, progress, error_class, error_code,
        error_message, error_frames, result, created_at, updated_at, started_at, finished_at, payload_bytes, audited)
    select
        id, tenant, task, queue, outcome, reason, rank, run_at, args, attempts, max_attempts, deferrals,
        losses + more_losses, fence, job_key, source, unique_key, unique_scope, concurrency_key, concurrency_limit,
        correlation_id, tags, coalesce(result_facts, event_fields), headers,
        requeued_from, lease_us, timeout_us, deadline_at, worker_id, leased_at,
        heartbeat_at, progress, coalesce(last_class, error_class), coalesce(last_code, error_code),
        coalesce(last_message, error_message), case when last_class is null then error_frames else last_frames end,
        result, created_at, (select haulwright_now(:now::bigint)), started_at,
        (select haulwright_now(:now::bigint)), payload_bytes, audited
    from deleted
)
select id, fence, worker_id, joined from deleted;

-- name: settle_successes
-- The same for first runs of one worker that succeeded, which most are: a third of the lists, and one pass over the
-- rows. Those that others wait for are left to `settle`, whose caller wakes them.
with input as (
    select unnest(:id::uuid[]) as id, unnest(:result::text[]) as result, unnest(:event_fields::text[]) as event_fields
    order by 1
), deleted as (
    delete from haulwright_jobs j using input
    where j.id = input.id and j.fence = 1 and j.worker_id = :worker_id::uuid and j.state || '' = 'running'
      and not j.joined
    returning j.*, input.result as outcome, input.event_fields as result_facts
)
insert into haulwright_history (
    id, tenant, task, queue, state, rank, run_at, args, attempts, max_attempts, deferrals, losses, fence,
    job_key, source, unique_key, unique_scope, concurrency_key, concurrency_limit, correlation_id, tags, event_fields, headers,
    requeued_from, lease_us, timeout_us, deadline_at, worker_id, leased_at, heartbeat_at, progress, error_class, error_code,
    error_message, error_frames, result, created_at, updated_at, started_at, finished_at, payload_bytes, audited)
select
    id, tenant, task, queue, 'succeeded', rank, run_at, args, attempts, max_attempts, deferrals, losses, fence,
    job_key, source, unique_key, unique_scope, concurrency_key, concurrency_limit, correlation_id, tags,
    coalesce(result_facts, event_fields), headers,
    requeued_from, lease_us, timeout_us, deadline_at, worker_id, leased_at, heartbeat_at, progress, error_class, error_code,
    error_message, error_frames, outcome, created_at, (select haulwright_now(:now::bigint)), started_at,
    (select haulwright_now(:now::bigint)), payload_bytes, audited
from deleted
returning id;

-- name: put_back
-- Retry, snooze, release and loss: the job is queued again. One that was asked to cancel is not.
update haulwright_jobs j
set state = 'queued', run_at = (select haulwright_now(:now::bigint)) + input.delay_us, attempts = j.attempts - input.refund,
    deferrals = j.deferrals + input.deferral, losses = j.losses + input.losses, waiting_on = input.waiting_on,
    worker_id = null, leased_at = null, heartbeat_at = null, lease_expires_at = null,
    error_class = coalesce(input.error_class, j.error_class), error_code = coalesce(input.error_code, j.error_code),
    error_message = coalesce(input.error_message, j.error_message),
    error_frames = case when input.error_class is null then j.error_frames else input.error_frames end,
    updated_at = (select haulwright_now(:now::bigint))
from (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence,
             unnest(:worker_id::uuid[]) as worker_id, unnest(:delay_us::bigint[]) as delay_us,
             unnest(:refund::int[]) as refund, unnest(:deferral::int[]) as deferral, unnest(:losses::int[]) as losses,
             unnest(:waiting_on::text[]) as waiting_on, unnest(:error_class::text[]) as error_class,
             unnest(:error_code::text[]) as error_code, unnest(:error_message::text[]) as error_message,
             unnest(:error_frames::text[]) as error_frames
      order by 1) input
where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state || '' = 'running'
  and j.cancel_reason is null
returning j.id, j.fence;

-- name: ended
-- How a job looks after a settlement of this very fence. A loss would have been counted.
select id from haulwright_history
where id = :id::uuid and fence = :fence and worker_id = :worker_id::uuid and losses = :losses
union all
select id from haulwright_jobs where id = :id::uuid and fence = :fence and losses = :losses and state || '' = 'queued';

-- name: asked_to_cancel
select j.id, j.fence, j.worker_id, j.cancel_reason
from haulwright_jobs j
join (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:worker_id::uuid[]) as worker_id) held
  on j.id = held.id and j.fence = held.fence and j.worker_id = held.worker_id
where j.state || '' = 'running' and j.cancel_reason is not null
for update of j;

-- name: stale
-- Leases that ran out, the longest first. Rows that another sweep holds are left to it.
select id, fence, tenant, task, attempts, max_attempts, losses, cancel_reason, worker_id, leased_at, heartbeat_at,
       concurrency_key, source, event_fields, audited
from haulwright_jobs
where state = 'running' and lease_expires_at < haulwright_now(:now::bigint)
order by lease_expires_at limit :limit for update skip locked;

-- name: ending
-- The database's time, and the leases that have run out or will soon: within :within_us, and in the second half of their
-- time, which a worker that lives never lets come. Those that ended before :since are left out, for the index keeps the dead
-- entries of all renewals for as long as anybody's snapshot is open.
select clock.now, ending.*
from (select haulwright_now(:now::bigint) as now) clock
left join lateral (
    select id, fence, worker_id, heartbeat_at, lease_expires_at, lease_us from haulwright_jobs
    where state = 'running' and lease_expires_at >= :since::bigint
      and lease_expires_at < haulwright_now(:now::bigint) + :within_us::bigint
      and lease_expires_at - lease_us / 2 < haulwright_now(:now::bigint)
    order by lease_expires_at limit :limit) ending on true;

-- name: silent
-- Leases that have run out, and whose heartbeat is the one that was watched. Rows that somebody holds are left alone.
select j.id, j.fence, j.tenant, j.task, j.attempts, j.max_attempts, j.losses, j.cancel_reason, j.worker_id, j.leased_at,
       j.heartbeat_at, j.concurrency_key, j.source, j.event_fields, j.audited
from (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:worker_id::uuid[]) as worker_id,
             unnest(:heartbeat_at::bigint[]) as heartbeat_at) watched
join haulwright_jobs j on j.id = watched.id and j.fence = watched.fence and j.worker_id = watched.worker_id
    and j.state || '' = 'running' and j.heartbeat_at = watched.heartbeat_at
where j.lease_expires_at < haulwright_now(:now::bigint)
order by j.id for update of j skip locked;

-- name: leases_of
-- Leases of workers that are known to be gone.
select id, fence, tenant, task, attempts, max_attempts, losses, cancel_reason, worker_id, leased_at, heartbeat_at,
       concurrency_key, source, event_fields, audited
from haulwright_jobs
where state = 'running' and worker_id = any(:workers::uuid[])
order by lease_expires_at limit :limit for update skip locked;

-- name: held_by
-- How many leases these workers hold, when one was last taken back from each, and what each is called. One statement, so one moment: a lease
-- that another sweep takes back just now is seen in the one place or in the other.
select j.worker_id, count(*), (select w.lost_at from haulwright_workers w where w.id = j.worker_id),
       (select w.name from haulwright_workers w where w.id = j.worker_id)
from haulwright_jobs j
where j.state = 'running' and j.worker_id = any(:workers::uuid[])
group by j.worker_id;

-- name: overdue
-- Jobs that waited past their deadline, and what pauses that are over took from each and are not in its deadline yet.
-- Before a paused queue or source nothing is overdue.
-- The source is looked up job by job: a join of it would sort all that are overdue.
select j.id, j.fence, j.tenant, j.attempts,
    (coalesce((select sum(p.resumed_at - greatest(p.paused_at, coalesce(j.pauses_until, j.created_at)))
               from haulwright_pauses p
               where p.kind = 'queue' and p.name = j.queue and p.resumed_at > coalesce(j.pauses_until, j.created_at)), 0)
     + coalesce((select sum(p.resumed_at - greatest(p.paused_at, coalesce(j.pauses_until, j.created_at)))
                 from haulwright_pauses p
                 where p.kind = 'source' and p.name = j.source
                   and p.resumed_at > coalesce(j.pauses_until, j.created_at)), 0)
     + coalesce((select s.paused_until - greatest(s.paused_at, coalesce(j.pauses_until, j.created_at))
                 from haulwright_sources s
                 where s.key = j.source and s.paused_at < s.paused_until  -- a pause for a time, which nobody had to end
                   and s.paused_until > coalesce(j.pauses_until, j.created_at)), 0))::bigint,
    j.error_class, j.error_code, j.error_message, j.error_frames, j.waiting_on
from haulwright_jobs j
where j.state = 'queued' and j.deadline_at <= haulwright_now(:now::bigint)
  and not exists (select 1 from haulwright_queues q where q.name = j.queue and q.paused_at is not null)
  and coalesce((select s.paused_until from haulwright_sources s where s.key = j.source), 0)
      <= haulwright_now(:now::bigint)
order by j.deadline_at limit :limit for update of j skip locked;

-- name: extend_deadlines
-- What pauses took from waiting jobs is given back to them, and once: also where the clock went back behind a pause's end.
update haulwright_jobs j
set deadline_at = j.deadline_at + input.paused_us,
    pauses_until = greatest(haulwright_now(:now::bigint),
        (select max(p.resumed_at) from haulwright_pauses p where p.kind = 'queue' and p.name = j.queue),
        (select max(p.resumed_at) from haulwright_pauses p where p.kind = 'source' and p.name = j.source))
from (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:paused_us::bigint[]) as paused_us
      order by 1) input
where j.id = input.id and j.fence = input.fence and j.state || '' = 'queued';

-- name: lock_any
-- One active job of a tenant, whatever it does.
select id, fence, state, tenant, concurrency_key from haulwright_jobs
where id = :id::uuid and (:tenant::text is null or tenant = :tenant) for update;

-- name: ask_to_cancel
update haulwright_jobs set cancel_reason = coalesce(cancel_reason, :reason), updated_at = haulwright_now(:now::bigint)
where id = :id::uuid and fence = :fence and state || '' = 'running'
returning id;

-- name: retry
-- One waiting job is due at once, whatever it waited for, and an idle worker hears of it.
update haulwright_jobs set run_at = haulwright_now(:now::bigint), waiting_on = null, updated_at = haulwright_now(:now::bigint)
where id = :id::uuid and fence = :fence and state || '' = 'queued' and run_at > haulwright_now(:now::bigint)
returning attempts, pg_notify('haulwright', '');

-- name: take_permit
-- The lowest free number of a key. Two takers of one number: the second finds it taken and comes back for another.
insert into haulwright_permits (key, number, job_id, fence, worker_id, taken_at)
select :key, free.number, :id::uuid, :fence, :worker_id::uuid, haulwright_now(:now::bigint)
from generate_series(1, :limit::int) as free (number)
where not exists (select 1 from haulwright_permits p where p.key = :key and p.number = free.number)
order by free.number limit 1
on conflict (key, number) do nothing
returning number;

-- name: free_permits
delete from haulwright_permits p
using (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:worker_id::uuid[]) as worker_id) held
where p.job_id = held.id and p.fence = held.fence and p.worker_id = held.worker_id
returning p.key;

-- name: wake
-- Jobs that wait for a gate are due at once, the oldest first, as many as it admits.
update haulwright_jobs set run_at = haulwright_now(:now::bigint), updated_at = haulwright_now(:now::bigint)
where id = any(array(
    select id from haulwright_jobs
    where waiting_on = :gate and state = 'queued' and run_at > haulwright_now(:now::bigint)
    order by id limit :limit for update skip locked))
returning id;

-- name: dead_letter
-- One dead letter of a tenant, held so that it is requeued once.
select id, tenant, task, queue, rank, args, max_attempts, job_key, source, unique_key, unique_scope, concurrency_key,
       concurrency_limit, correlation_id, tags, event_fields, headers,
       lease_us, timeout_us, deadline_at, run_at, state, requeued_to, created_at, payload_bytes, audited
from haulwright_history
where id = :id::uuid and (:tenant::text is null or tenant = :tenant) for update;

-- name: mark_requeued
update haulwright_history set requeued_to = :successor::uuid, updated_at = haulwright_now(:now::bigint)
where id = :id::uuid and state = 'dead' and requeued_to is null
returning id;

-- name: prune
-- Finished jobs of one state older than an age, the oldest first: by the index of their ends, not by that of the dead. All but
-- those that will soon go with their partition.
delete from haulwright_history where id = any(array(
    select id from haulwright_history
    where finished_at < haulwright_now(:now::bigint) - :age_us::bigint and state || '' = :state
      and (id < :spared_start::uuid or id >= :spared_end::uuid)
    order by finished_at limit :limit for update skip locked))
returning tenant, job_key, requeued_to, case when payload_bytes is not null then id end;

-- The engine on PostgreSQL. Times are microseconds since 1970 UTC; ids are UUIDv7; lists and payloads are JSON text.

-- The one expression for this database's clock. Stable, so that `run_at <= penstock_now(...)` bounds an index scan.
create function penstock_now(at bigint) returns bigint language sql stable parallel safe as
$$ select coalesce(at, (extract(epoch from statement_timestamp()) * 1000000)::bigint) $$;

-- Jobs that wait or run. Finished ones leave for penstock_history in the statement that settles them.
create table penstock_jobs (
    id                uuid     not null primary key,
    tenant            text collate "C" not null check (tenant <> ''),      -- the round of tenants starts after ''
    task              text     not null,
    queue             text collate "C" not null,
    state             text     not null default 'queued' check (state in ('queued', 'running')),
    rank              smallint not null check (rank between -100 and 100),  -- minus the priority: the smallest first
    run_at            bigint   not null,
    args              text     not null,
    attempts          integer  not null default 0 check (attempts >= 0),
    max_attempts      integer  not null check (max_attempts > 0),
    deferrals         integer  not null default 0,
    losses            integer  not null default 0,
    fence             bigint   not null default 0,
    job_key           text     not null,
    source            text,
    waiting_on        text,
    unique_key        text,
    unique_scope      text     check (unique_scope in ('while_active', 'forever', 'period')),
    concurrency_key   text,
    concurrency_limit integer  check (concurrency_limit > 0),
    correlation_id    text,
    tags              text     not null default '[]',
    facts             text,                                                -- what its events carry
    requeued_from     uuid,
    lease_us          bigint   not null check (lease_us > 0),
    timeout_us        bigint,
    deadline_at       bigint,
    worker_id         uuid,
    leased_at         bigint,
    heartbeat_at      bigint,
    lease_expires_at  bigint,
    cancel_reason     text,
    progress          text,
    error_class       text,
    error_code        text,
    error_message     text,
    created_at        bigint   not null,
    updated_at        bigint   not null,
    started_at        bigint,
    check ((unique_key is null) = (unique_scope is null)),
    check ((concurrency_key is null) = (concurrency_limit is null)),
    check ((state = 'running') = (worker_id is not null)),
    check ((state = 'running') = (leased_at is not null)),
    check ((state = 'running') = (heartbeat_at is not null)),
    check ((state = 'running') = (lease_expires_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index penstock_jobs_ready on penstock_jobs (queue, tenant, rank, run_at, id) where state = 'queued';
create index penstock_jobs_leased on penstock_jobs (lease_expires_at) where state = 'running';
create index penstock_jobs_deadline on penstock_jobs (deadline_at) where state = 'queued' and deadline_at is not null;
create index penstock_jobs_waiting on penstock_jobs (waiting_on, id) where waiting_on is not null;
create unique index penstock_jobs_unique on penstock_jobs (tenant, task, unique_key)
    where unique_scope = 'while_active';

create table penstock_history (
    id                uuid     not null primary key,
    tenant            text     not null,
    task              text     not null,
    queue             text     not null,
    state             text     not null check (state in ('succeeded', 'dead', 'cancelled', 'skipped')),
    reason            text,
    rank              smallint not null,
    run_at            bigint   not null,
    args              text     not null,
    attempts          integer  not null,
    max_attempts      integer  not null,
    deferrals         integer  not null,
    losses            integer  not null,
    fence             bigint   not null,
    job_key           text     not null,
    source            text,
    unique_key        text,
    unique_scope      text,
    concurrency_key   text,
    concurrency_limit integer,
    correlation_id    text,
    tags              text     not null,
    facts             text,
    requeued_from     uuid,
    requeued_to       uuid,
    lease_us          bigint   not null,
    timeout_us        bigint,
    deadline_at       bigint,
    worker_id         uuid,
    leased_at         bigint,
    heartbeat_at      bigint,
    progress          text,
    error_class       text,
    error_code        text,
    error_message     text,
    result            text,
    created_at        bigint   not null,
    updated_at        bigint   not null,
    started_at        bigint,
    finished_at       bigint   not null
);

create index penstock_history_finished on penstock_history (finished_at);
create index penstock_history_tenant on penstock_history (tenant, id);
create index penstock_history_dead on penstock_history (tenant, id) where state = 'dead';

-- Keys that outlive their job: unique for ever, unique for a time, and the keys of planned jobs.
create table penstock_keys (
    tenant      text     not null,
    kind        text     not null check (kind in ('unique', 'job_key')),
    task        text     not null,
    key         text     not null,
    job_id      uuid     not null,
    args_digest text     not null,
    expires_at  bigint,
    primary key (tenant, kind, task, key)
);
create index penstock_keys_expiry on penstock_keys (expires_at) where expires_at is not null;

-- Permits of a concurrency key: as many rows as jobs run under it, each held under a fence.
create table penstock_permits (
    key      text     not null,
    number   integer  not null check (number > 0),
    job_id   uuid     not null,
    fence    bigint   not null,
    taken_at bigint   not null,
    primary key (key, number)
);
create index penstock_permits_job on penstock_permits (job_id);

-- The ledger. One row an effect, written as an intent before the effect happens.
create table penstock_effects (
    tenant     text     not null,
    key        text     not null,
    job_key    text     not null,
    job_id     uuid     not null,
    name       text     not null,
    kind       text     not null check (kind in ('effect', 'commit')),
    state      text     not null check (state in ('intent', 'done', 'unknown')),
    fence      bigint   not null,
    tries      integer  not null default 1,
    result     text,
    stored     text     not null default 'inline' check (stored in ('inline', 'blob', 'dropped')),
    started_at bigint   not null,
    settled_at bigint,
    primary key (tenant, key)
);
create index penstock_effects_job on penstock_effects (tenant, job_key);

create table penstock_blobs (
    tenant text     not null,
    key    text     not null,
    body   bytea    not null,
    primary key (tenant, key)
);

create table penstock_stages (
    tenant     text     not null,
    job_key    text     not null,
    generation integer  not null,
    machine    text     not null,
    stage      text     not null,
    job_id     uuid     not null,
    fence      bigint   not null,
    updated_at bigint   not null,
    primary key (tenant, job_key, generation)
);

create table penstock_schedules (
    name             text    not null primary key,
    tenant           text    not null,
    task             text    not null,
    cron             text    not null,
    tz               text    not null,
    coalesce_slots   boolean not null,
    misfire_grace_us bigint,
    overlap          text    not null check (overlap in ('skip', 'allow')),
    max_runtime_us   bigint,
    template         text    not null,          -- the job that a slot makes, as JSON
    revision         bigint  not null default 1,
    paused_at        bigint,
    paused_by        text,
    opened_until     bigint  not null,          -- every slot up to here has its disposition
    next_at          bigint,                   -- the first slot that has none yet
    created_at       bigint  not null,
    updated_at       bigint  not null
);
create index penstock_schedules_next on penstock_schedules (next_at) where next_at is not null;

create table penstock_slots (
    schedule      text     not null,
    scheduled_for bigint   not null,
    disposition   text     not null check (disposition in ('fired', 'coalesced', 'missed', 'skipped_overlap',
                          'skipped_paused', 'skipped_duplicate', 'backfilled', 'manual')),
    job_id        uuid,
    merged_into   bigint,
    revision      integer  not null,
    actor         text     not null,
    opened_at     bigint   not null,
    primary key (schedule, scheduled_for)
);
create index penstock_slots_latest on penstock_slots (schedule, opened_at) where job_id is not null;

create table penstock_workers (
    id          uuid     not null primary key,  -- new with every process start
    name        text     not null,
    host        text     not null,
    boot_id     text     not null,
    pid         integer  not null,
    pid_started text     not null,
    version     text     not null,
    queues      text     not null,
    tasks       text     not null default '[]',
    refused     bigint   not null default 0,    -- writes that came too late
    started_at  bigint   not null,
    seen_at     bigint   not null,
    stopped_at  bigint,
    lost_at     bigint                           -- when a lease was last taken back from it
);

create table penstock_queues (
    name      text     not null primary key,
    paused_at bigint,
    paused_by text,
    reason    text
);

-- What happened, in the order of commits. Rows are added, never changed; only retention removes them.
create table penstock_events (
    seq     bigint generated always as identity primary key,
    at      bigint   not null,
    tenant  text     not null,
    name    text     not null,
    job_id  uuid,
    attempt integer,
    fence   bigint,
    worker  text,
    actor   text,
    data    text     not null default '{}'
);
create index penstock_events_job on penstock_events (job_id, seq) where job_id is not null;
create index penstock_events_at on penstock_events (at);

create table penstock_meta (
    key   text     not null primary key,
    value text     not null
);

create function penstock_guard_events() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('penstock.retention', true) = 'on' then
        return old;
    end if;
    raise exception 'events are never changed, and removed by retention only';
end $$;
create trigger penstock_events_are_final before update or delete on penstock_events
    for each row execute function penstock_guard_events();
create trigger penstock_events_are_kept before truncate on penstock_events
    for each statement execute function penstock_guard_events();

-- For people: the same rows with times they can read.
create view penstock_recent as
select id, tenant, task, queue, state, attempts, max_attempts, worker_id as lease_owner,
       to_timestamp(heartbeat_at / 1e6) as heartbeat_at, to_timestamp(created_at / 1e6) as created_at,
       to_timestamp(started_at / 1e6) as started_at, null::timestamptz as finished_at, error_code, error_message
from penstock_jobs
union all
select id, tenant, task, queue, state, attempts, max_attempts, worker_id,
       to_timestamp(heartbeat_at / 1e6), to_timestamp(created_at / 1e6),
       to_timestamp(started_at / 1e6), to_timestamp(finished_at / 1e6), error_code, error_message
from penstock_history
order by id desc;

create view penstock_stuck as
select id, tenant, task, queue, worker_id as lease_owner, attempts, max_attempts,
       to_timestamp(heartbeat_at / 1e6) as heartbeat_at,
       (penstock_now(null) - heartbeat_at) / 1000000 as seconds_since_heartbeat,
       (penstock_now(null) - lease_expires_at) / 1000000 as seconds_past_lease
from penstock_jobs
where state = 'running' and lease_expires_at < penstock_now(null);

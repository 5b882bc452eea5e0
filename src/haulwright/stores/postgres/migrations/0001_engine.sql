-- The engine on PostgreSQL. Times are microseconds since 1970 UTC; ids are UUIDv7; lists and payloads are JSON text.

-- The one expression for this database's clock. Stable, so that `run_at <= haulwright_now(...)` bounds an index scan.
create function haulwright_now(at bigint) returns bigint language sql stable parallel safe as
$$ select coalesce(at, (extract(epoch from statement_timestamp()) * 1000000)::bigint) $$;

-- A text as JSON, and null where it is none: one bad row must not end the search of all others.
create function haulwright_json(value text) returns json language plpgsql immutable as
$$ begin return value::json; exception when data_exception then return null; end $$;

-- Jobs that wait or run. Finished ones leave for haulwright_history in the statement that settles them.
create table haulwright_jobs (
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
    event_fields             text,                                                -- what its events carry
    headers           text,
    joined            boolean  not null default false,           -- it waits for jobs, or a job waits for it
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

create index haulwright_jobs_ready on haulwright_jobs (queue, tenant, rank, run_at, id) where state = 'queued';
create index haulwright_jobs_leased on haulwright_jobs (lease_expires_at) where state = 'running';
create index haulwright_jobs_deadline on haulwright_jobs (deadline_at) where state = 'queued' and deadline_at is not null;
create index haulwright_jobs_waiting on haulwright_jobs (waiting_on, id) where waiting_on is not null;
create unique index haulwright_jobs_unique on haulwright_jobs (tenant, task, unique_key)
    where unique_scope = 'while_active';

create table haulwright_history (
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
    event_fields             text,
    headers           text,
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

create index haulwright_history_finished on haulwright_history (finished_at);
create index haulwright_history_tenant on haulwright_history (tenant, id);
create index haulwright_history_dead on haulwright_history (tenant, id) where state = 'dead';

-- Keys that outlive their job: unique for ever, unique for a time, and the keys of planned jobs.
create table haulwright_keys (
    tenant      text     not null,
    kind        text     not null check (kind in ('unique', 'job_key')),
    task        text     not null,
    key         text     not null,
    job_id      uuid     not null,
    args_digest text     not null,
    expires_at  bigint,
    primary key (tenant, kind, task, key)
);
create index haulwright_keys_expiry on haulwright_keys (expires_at) where expires_at is not null;

-- Permits of a concurrency key: as many rows as jobs run under it, each held under a fence.
create table haulwright_permits (
    key      text     not null,
    number   integer  not null check (number > 0),
    job_id   uuid     not null,
    fence    bigint   not null,
    worker_id uuid    not null,
    taken_at bigint   not null,
    primary key (key, number)
);
create index haulwright_permits_job on haulwright_permits (job_id);

-- Who waits for whom: one row for each job that a waiting one, its parent, waits for, until that one has ended.
create table haulwright_joins (
    child_id  uuid not null,
    parent_id uuid not null,
    primary key (child_id, parent_id)
);
create index haulwright_joins_parent on haulwright_joins (parent_id, child_id);

-- The ledger. One row an effect, written as an intent before the effect happens.
create table haulwright_effects (
    tenant     text     not null,
    key        text     not null,
    job_key    text     not null,
    job_id     uuid     not null,
    name       text     not null,
    kind       text     not null check (kind in ('effect', 'commit')),
    state      text     not null check (state in ('intent', 'done', 'unknown')),
    fence      bigint   not null,
    worker_id  uuid     not null,
    tries      integer  not null default 1,
    result     text,
    stored     text     not null default 'inline' check (stored in ('inline', 'blob', 'dropped')),
    started_at bigint   not null,
    settled_at bigint,
    primary key (tenant, key)
);
create index haulwright_effects_job on haulwright_effects (tenant, job_key);

create table haulwright_blobs (
    tenant text     not null,
    key    text     not null,
    body   bytea    not null,
    primary key (tenant, key)
);

create table haulwright_stages (
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

create table haulwright_schedules (
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
    pruned_from      bigint,                   -- the slots of this range whose record retention removed: nobody knows
    pruned_until     bigint,                   -- any more which of them made a job
    created_at       bigint  not null,
    updated_at       bigint  not null
);
create index haulwright_schedules_next on haulwright_schedules (next_at) where next_at is not null;

create table haulwright_slots (
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
create index haulwright_slots_latest on haulwright_slots (schedule, opened_at) where job_id is not null;

create table haulwright_workers (
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
    beats       bigint   not null default 0,    -- how often it was seen
    started_at  bigint   not null,
    seen_at     bigint   not null,
    stopped_at  bigint,
    lost_at     bigint                           -- when a lease was last taken back from it
);

create table haulwright_queues (
    name      text     not null primary key,
    paused_at bigint,
    paused_by text,
    reason    text
);

-- What happened. Rows are added, never changed; only retention removes them. Numbers are given when a row is written, and
-- those of one job in the order of its commits; who follows them waits for the smaller ones that are under way.
create table haulwright_events (
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
create index haulwright_events_job on haulwright_events (job_id, seq) where job_id is not null;
create index haulwright_events_at on haulwright_events (at);

create table haulwright_meta (
    key   text     not null primary key,
    value text     not null
);

create function haulwright_guard_events() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('haulwright.retention', true) = 'on' then
        return old;
    end if;
    raise exception 'events are never changed, and removed by retention only';
end $$;
create trigger haulwright_events_are_final before update or delete on haulwright_events
    for each row execute function haulwright_guard_events();
create trigger haulwright_events_are_kept before truncate on haulwright_events
    for each statement execute function haulwright_guard_events();

-- For people: the same rows with times they can read.
create view haulwright_recent as
select id, tenant, task, queue, state, attempts, max_attempts, worker_id as lease_owner,
       to_timestamp(heartbeat_at / 1e6) as heartbeat_at, to_timestamp(created_at / 1e6) as created_at,
       to_timestamp(started_at / 1e6) as started_at, null::timestamptz as finished_at, error_code, error_message
from haulwright_jobs
union all
select id, tenant, task, queue, state, attempts, max_attempts, worker_id,
       to_timestamp(heartbeat_at / 1e6), to_timestamp(created_at / 1e6),
       to_timestamp(started_at / 1e6), to_timestamp(finished_at / 1e6), error_code, error_message
from haulwright_history
order by id desc;

create view haulwright_stuck as
select id, tenant, task, queue, worker_id as lease_owner, attempts, max_attempts,
       to_timestamp(heartbeat_at / 1e6) as heartbeat_at,
       (haulwright_now(null) - heartbeat_at) / 1000000 as seconds_since_heartbeat,
       (haulwright_now(null) - lease_expires_at) / 1000000 as seconds_past_lease
from haulwright_jobs
where state = 'running' and lease_expires_at < haulwright_now(null);

-- Sources: somebody else's servers, with what they allow and how they stand. One row for each, or for each account on it.
create table haulwright_sources (
    key              text    not null primary key,  -- the name, or name@account
    -- what it allows: as the code declares it, as a person changed it, and what is in force
    declared         text    not null,              -- JSON
    overridden       text,                          -- JSON
    overridden_by    text,
    enabled          boolean not null,
    interval_us      bigint  not null,              -- between two grants on average; 0 is no limit
    burst            bigint  not null check (burst > 0),
    concurrency      bigint,
    budget           bigint,
    breaker_failures bigint,
    cool_down_us     bigint  not null,
    credential       text,                          -- a fingerprint, never the secret
    -- the meters: grants that were given, and turns that were promised
    met_until        bigint  not null default 0,
    turns_until      bigint  not null default 0,
    granted          bigint  not null default 0,    -- by the last ask
    tickets          bigint  not null default 0,    -- in all
    held             bigint  not null default 0,    -- permits that are out
    spent            bigint  not null default 0,
    spent_day        bigint  not null default 0,
    -- closings
    paused_at        bigint,
    paused_until     bigint  not null default 0,
    paused_by        text,
    paused_reason    text,
    parked_until     bigint  not null default 0,
    breaker          text    not null default 'closed' check (breaker in ('closed', 'open', 'half_open', 'refused')),
    breaker_since    bigint,
    open_until       bigint  not null default 0,
    openings         bigint  not null default 0,    -- in a row, for a cool-down that grows
    probe_id         uuid,
    probe_fence      bigint,
    probe_worker     uuid,
    probe_until      bigint  not null default 0,
    failure_streak   bigint  not null default 0,
    last_success_at  bigint,
    last_failure_at  bigint,
    asked_at         bigint  not null default 0,
    created_at       bigint  not null,
    updated_at       bigint  not null
);

-- Permits of a source: as many rows as requests are under way, each under the fence of its job or with a time of its own.
create table haulwright_source_permits (
    source     text    not null,
    ticket     bigint  not null,
    holder     uuid    not null,                    -- a job, or somebody outside any job
    fence      bigint  not null,
    worker_id  uuid    not null,                    -- who holds it: the worker, or that somebody
    expires_at bigint,                             -- only outside a job
    primary key (source, ticket)
);
create index haulwright_source_permits_holder on haulwright_source_permits (holder);

-- What went through, by the minute.
create table haulwright_traffic (
    source    text    not null,
    minute    bigint  not null,
    requests  bigint  not null default 0,
    failed    bigint  not null default 0,
    throttled bigint  not null default 0,
    sent      bigint  not null default 0,
    received  bigint  not null default 0,
    busy_us   bigint  not null default 0,
    primary key (source, minute)
);
create index haulwright_traffic_minute on haulwright_traffic (minute);

-- Answers that were kept.
create table haulwright_cache (
    key          text    not null primary key,      -- of the request with its tenant and credential
    source       text    not null,
    status       bigint  not null,
    head         text    not null,                  -- JSON
    body         bytea   not null,
    size         bigint  not null,
    requested_at bigint  not null,
    answered_at  bigint  not null,
    fresh_until  bigint  not null,
    keep_until   bigint  not null
);
create index haulwright_cache_keep on haulwright_cache (keep_until);
create index haulwright_cache_source on haulwright_cache (source);

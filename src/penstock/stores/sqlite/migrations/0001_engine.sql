-- The engine on SQLite. Times are microseconds since 1970 UTC; ids are UUIDv7 text; lists and payloads are JSON text.

-- Jobs that wait or run. Finished ones leave for penstock_history in the statement that settles them.
create table penstock_jobs (
    id                text    not null primary key,
    tenant            text    not null check (tenant <> ''),               -- the round of tenants starts after ''
    task              text    not null,
    queue             text    not null,
    state             text    not null default 'queued' check (state in ('queued', 'running')),
    rank              integer not null check (rank between -100 and 100),  -- minus the priority: the smallest first
    run_at            integer not null,
    args              text    not null,
    attempts          integer not null default 0 check (attempts >= 0),
    max_attempts      integer not null check (max_attempts > 0),
    deferrals         integer not null default 0,
    losses            integer not null default 0,
    fence             integer not null default 0,
    job_key           text    not null,
    source            text,
    waiting_on        text,
    unique_key        text,
    unique_scope      text    check (unique_scope in ('while_active', 'forever', 'period')),
    concurrency_key   text,
    concurrency_limit integer check (concurrency_limit > 0),
    correlation_id    text,
    tags              text    not null default '[]',
    facts             text,                                                -- what its events carry
    requeued_from     text,
    lease_us          integer not null check (lease_us > 0),
    timeout_us        integer,
    deadline_at       integer,
    worker_id         text,
    leased_at         integer,
    heartbeat_at      integer,
    lease_expires_at  integer,
    cancel_reason     text,
    progress          text,
    error_class       text,
    error_code        text,
    error_message     text,
    created_at        integer not null,
    updated_at        integer not null,
    started_at        integer,
    check ((unique_key is null) = (unique_scope is null)),
    check ((concurrency_key is null) = (concurrency_limit is null)),
    check ((state = 'running') = (worker_id is not null)),
    check ((state = 'running') = (leased_at is not null)),
    check ((state = 'running') = (heartbeat_at is not null)),
    check ((state = 'running') = (lease_expires_at is not null))
) without rowid;

create index penstock_jobs_ready on penstock_jobs (queue, tenant, rank, run_at, id) where state = 'queued';
create index penstock_jobs_leased on penstock_jobs (lease_expires_at) where state = 'running';
create index penstock_jobs_deadline on penstock_jobs (deadline_at) where state = 'queued' and deadline_at is not null;
create index penstock_jobs_waiting on penstock_jobs (waiting_on, id) where waiting_on is not null;
create unique index penstock_jobs_unique on penstock_jobs (tenant, task, unique_key)
    where unique_scope = 'while_active';

create table penstock_history (
    id                text    not null primary key,
    tenant            text    not null,
    task              text    not null,
    queue             text    not null,
    state             text    not null check (state in ('succeeded', 'dead', 'cancelled', 'skipped')),
    reason            text,
    rank              integer not null,
    run_at            integer not null,
    args              text    not null,
    attempts          integer not null,
    max_attempts      integer not null,
    deferrals         integer not null,
    losses            integer not null,
    fence             integer not null,
    job_key           text    not null,
    source            text,
    unique_key        text,
    unique_scope      text,
    concurrency_key   text,
    concurrency_limit integer,
    correlation_id    text,
    tags              text    not null,
    facts             text,
    requeued_from     text,
    requeued_to       text,
    lease_us          integer not null,
    timeout_us        integer,
    deadline_at       integer,
    worker_id         text,
    leased_at         integer,
    heartbeat_at      integer,
    progress          text,
    error_class       text,
    error_code        text,
    error_message     text,
    result            text,
    created_at        integer not null,
    updated_at        integer not null,
    started_at        integer,
    finished_at       integer not null
) without rowid;

create index penstock_history_finished on penstock_history (finished_at);
create index penstock_history_tenant on penstock_history (tenant, id);
create index penstock_history_dead on penstock_history (tenant, id) where state = 'dead';

-- Keys that outlive their job: unique for ever, unique for a time, and the keys of planned jobs.
create table penstock_keys (
    tenant      text    not null,
    kind        text    not null check (kind in ('unique', 'job_key')),
    task        text    not null,
    key         text    not null,
    job_id      text    not null,
    args_digest text    not null,
    expires_at  integer,
    primary key (tenant, kind, task, key)
) without rowid;
create index penstock_keys_expiry on penstock_keys (expires_at) where expires_at is not null;

-- Permits of a concurrency key: as many rows as jobs run under it, each held under a fence.
create table penstock_permits (
    key      text    not null,
    number   integer not null check (number > 0),
    job_id   text    not null,
    fence    integer not null,
    taken_at integer not null,
    primary key (key, number)
) without rowid;
create index penstock_permits_job on penstock_permits (job_id);

-- The ledger. One row an effect, written as an intent before the effect happens.
create table penstock_effects (
    tenant     text    not null,
    key        text    not null,
    job_key    text    not null,
    job_id     text    not null,
    name       text    not null,
    kind       text    not null check (kind in ('effect', 'commit')),
    state      text    not null check (state in ('intent', 'done', 'unknown')),
    fence      integer not null,
    tries      integer not null default 1,
    result     text,
    stored     text    not null default 'inline' check (stored in ('inline', 'blob', 'dropped')),
    started_at integer not null,
    settled_at integer,
    primary key (tenant, key)
) without rowid;
create index penstock_effects_job on penstock_effects (tenant, job_key);

create table penstock_blobs (
    tenant text not null,
    key    text not null,
    body   blob not null,
    primary key (tenant, key)
) without rowid;

create table penstock_stages (
    tenant     text    not null,
    job_key    text    not null,
    generation integer not null,
    machine    text    not null,
    stage      text    not null,
    job_id     text    not null,
    fence      integer not null,
    updated_at integer not null,
    primary key (tenant, job_key, generation)
) without rowid;

create table penstock_schedules (
    name             text    not null primary key,
    tenant           text    not null,
    task             text    not null,
    cron             text    not null,
    tz               text    not null,
    coalesce_slots   integer not null,
    misfire_grace_us integer,
    overlap          text    not null check (overlap in ('skip', 'allow')),
    max_runtime_us   integer,
    template         text    not null,          -- the job that a slot makes, as JSON
    revision         integer not null default 1,
    paused_at        integer,
    paused_by        text,
    opened_until     integer not null,          -- every slot up to here has its disposition
    next_at          integer,                   -- the first slot that has none yet
    created_at       integer not null,
    updated_at       integer not null
) without rowid;
create index penstock_schedules_next on penstock_schedules (next_at) where next_at is not null;

create table penstock_slots (
    schedule      text    not null,
    scheduled_for integer not null,
    disposition   text    not null check (disposition in ('fired', 'coalesced', 'missed', 'skipped_overlap',
                          'skipped_paused', 'skipped_duplicate', 'backfilled', 'manual')),
    job_id        text,
    merged_into   integer,
    revision      integer not null,
    actor         text    not null,
    opened_at     integer not null,
    primary key (schedule, scheduled_for)
) without rowid;
create index penstock_slots_latest on penstock_slots (schedule, opened_at) where job_id is not null;

create table penstock_workers (
    id          text    not null primary key,  -- new with every process start
    name        text    not null,
    host        text    not null,
    boot_id     text    not null,
    pid         integer not null,
    pid_started text    not null,
    version     text    not null,
    queues      text    not null,
    tasks       text    not null default '[]',
    refused     integer not null default 0,    -- writes that came too late
    started_at  integer not null,
    seen_at     integer not null,
    stopped_at  integer,
    lost_at     integer                        -- when a lease was last taken back from it
) without rowid;

create table penstock_queues (
    name      text not null primary key,
    paused_at integer,
    paused_by text,
    reason    text
) without rowid;

-- What happened, in the order of commits. Rows are added, never changed; only retention removes them.
create table penstock_events (
    seq     integer primary key autoincrement,
    at      integer not null,
    tenant  text    not null,
    name    text    not null,
    job_id  text,
    attempt integer,
    fence   integer,
    worker  text,
    actor   text,
    data    text    not null default '{}'
);
create index penstock_events_job on penstock_events (job_id, seq) where job_id is not null;
create index penstock_events_at on penstock_events (at);

create table penstock_meta (
    key   text not null primary key,
    value text not null
) without rowid;

create trigger penstock_events_are_final before update on penstock_events
begin
    select raise(abort, 'events are never changed');
end;
create trigger penstock_events_are_kept before delete on penstock_events
when not exists (select 1 from penstock_meta where key = 'retention')
begin
    select raise(abort, 'events are removed by retention only');
end;

-- For people: the same rows with times they can read.
create view penstock_recent as
select id, tenant, task, queue, state, attempts, max_attempts, worker_id as lease_owner,
       datetime(heartbeat_at / 1000000, 'unixepoch') as heartbeat_at,
       datetime(created_at / 1000000, 'unixepoch') as created_at,
       datetime(started_at / 1000000, 'unixepoch') as started_at,
       null as finished_at, error_code, error_message
from penstock_jobs
union all
select id, tenant, task, queue, state, attempts, max_attempts, worker_id,
       datetime(heartbeat_at / 1000000, 'unixepoch'), datetime(created_at / 1000000, 'unixepoch'),
       datetime(started_at / 1000000, 'unixepoch'), datetime(finished_at / 1000000, 'unixepoch'),
       error_code, error_message
from penstock_history
order by id desc;

create view penstock_stuck as
select id, tenant, task, queue, worker_id as lease_owner, attempts, max_attempts,
       datetime(heartbeat_at / 1000000, 'unixepoch') as heartbeat_at,
       (cast(strftime('%s', 'now') as integer) * 1000000 - heartbeat_at) / 1000000 as seconds_since_heartbeat,
       (cast(strftime('%s', 'now') as integer) * 1000000 - lease_expires_at) / 1000000 as seconds_past_lease
from penstock_jobs
where state = 'running' and lease_expires_at < cast(strftime('%s', 'now') as integer) * 1000000;

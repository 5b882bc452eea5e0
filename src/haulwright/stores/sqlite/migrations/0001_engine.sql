-- The engine on SQLite. Times are microseconds since 1970 UTC; ids are UUIDv7 text; lists and payloads are JSON text.

-- Jobs that wait or run. Finished ones leave for haulwright_history in the statement that settles them.
create table haulwright_jobs (
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
    event_fields             text,                                                -- what its events carry
    headers           text,
    joined            integer not null default 0,                -- it waits for jobs, or a job waits for it
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

create index haulwright_jobs_ready on haulwright_jobs (queue, tenant, rank, run_at, id) where state = 'queued';
create index haulwright_jobs_leased on haulwright_jobs (lease_expires_at) where state = 'running';
create index haulwright_jobs_deadline on haulwright_jobs (deadline_at) where state = 'queued' and deadline_at is not null;
create index haulwright_jobs_waiting on haulwright_jobs (waiting_on, id) where waiting_on is not null;
create unique index haulwright_jobs_unique on haulwright_jobs (tenant, task, unique_key)
    where unique_scope = 'while_active';

create table haulwright_history (
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
    event_fields             text,
    headers           text,
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

create index haulwright_history_finished on haulwright_history (finished_at);
create index haulwright_history_tenant on haulwright_history (tenant, id);
create index haulwright_history_dead on haulwright_history (tenant, id) where state = 'dead';

-- Keys that outlive their job: unique for ever, unique for a time, and the keys of planned jobs.
create table haulwright_keys (
    tenant      text    not null,
    kind        text    not null check (kind in ('unique', 'job_key')),
    task        text    not null,
    key         text    not null,
    job_id      text    not null,
    args_digest text    not null,
    expires_at  integer,
    primary key (tenant, kind, task, key)
) without rowid;
create index haulwright_keys_expiry on haulwright_keys (expires_at) where expires_at is not null;

-- Permits of a concurrency key: as many rows as jobs run under it, each held under a fence.
create table haulwright_permits (
    key      text    not null,
    number   integer not null check (number > 0),
    job_id   text    not null,
    fence    integer not null,
    worker_id text   not null,
    taken_at integer not null,
    primary key (key, number)
) without rowid;
create index haulwright_permits_job on haulwright_permits (job_id);

-- Who waits for whom: one row for each job that a waiting one, its parent, waits for, until that one has ended.
create table haulwright_joins (
    child_id  text not null,
    parent_id text not null,
    primary key (child_id, parent_id)
) without rowid;
create index haulwright_joins_parent on haulwright_joins (parent_id, child_id);

-- The ledger. One row an effect, written as an intent before the effect happens.
create table haulwright_effects (
    tenant     text    not null,
    key        text    not null,
    job_key    text    not null,
    job_id     text    not null,
    name       text    not null,
    kind       text    not null check (kind in ('effect', 'commit')),
    state      text    not null check (state in ('intent', 'done', 'unknown')),
    fence      integer not null,
    worker_id  text    not null,
    tries      integer not null default 1,
    result     text,
    stored     text    not null default 'inline' check (stored in ('inline', 'blob', 'dropped')),
    started_at integer not null,
    settled_at integer,
    primary key (tenant, key)
) without rowid;
create index haulwright_effects_job on haulwright_effects (tenant, job_key);

create table haulwright_blobs (
    tenant text not null,
    key    text not null,
    body   blob not null,
    primary key (tenant, key)
) without rowid;

create table haulwright_stages (
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

create table haulwright_schedules (
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
    pruned_from      integer,                   -- the slots of this range whose record retention removed: nobody knows
    pruned_until     integer,                   -- any more which of them made a job
    created_at       integer not null,
    updated_at       integer not null
) without rowid;
create index haulwright_schedules_next on haulwright_schedules (next_at) where next_at is not null;

create table haulwright_slots (
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
create index haulwright_slots_latest on haulwright_slots (schedule, opened_at) where job_id is not null;

create table haulwright_workers (
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
    beats       integer not null default 0,     -- how often it was seen
    started_at  integer not null,
    seen_at     integer not null,
    stopped_at  integer,
    lost_at     integer                        -- when a lease was last taken back from it
) without rowid;

create table haulwright_queues (
    name      text not null primary key,
    paused_at integer,
    paused_by text,
    reason    text
) without rowid;

-- What happened, in the order of commits. Rows are added, never changed; only retention removes them.
create table haulwright_events (
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
create index haulwright_events_job on haulwright_events (job_id, seq) where job_id is not null;
create index haulwright_events_at on haulwright_events (at);

create table haulwright_meta (
    key   text not null primary key,
    value text not null
) without rowid;

create trigger haulwright_events_are_final before update on haulwright_events
begin
    select raise(abort, 'events are never changed');
end;
create trigger haulwright_events_are_kept before delete on haulwright_events
when not exists (select 1 from haulwright_meta where key = 'retention')
begin
    select raise(abort, 'events are removed by retention only');
end;

-- For people: the same rows with times they can read.
create view haulwright_recent as
select id, tenant, task, queue, state, attempts, max_attempts, worker_id as lease_owner,
       datetime(heartbeat_at / 1000000, 'unixepoch') as heartbeat_at,
       datetime(created_at / 1000000, 'unixepoch') as created_at,
       datetime(started_at / 1000000, 'unixepoch') as started_at,
       null as finished_at, error_code, error_message
from haulwright_jobs
union all
select id, tenant, task, queue, state, attempts, max_attempts, worker_id,
       datetime(heartbeat_at / 1000000, 'unixepoch'), datetime(created_at / 1000000, 'unixepoch'),
       datetime(started_at / 1000000, 'unixepoch'), datetime(finished_at / 1000000, 'unixepoch'),
       error_code, error_message
from haulwright_history
order by id desc;

create view haulwright_stuck as
select id, tenant, task, queue, worker_id as lease_owner, attempts, max_attempts,
       datetime(heartbeat_at / 1000000, 'unixepoch') as heartbeat_at,
       (cast(strftime('%s', 'now') as integer) * 1000000 - heartbeat_at) / 1000000 as seconds_since_heartbeat,
       (cast(strftime('%s', 'now') as integer) * 1000000 - lease_expires_at) / 1000000 as seconds_past_lease
from haulwright_jobs
where state = 'running' and lease_expires_at < cast(strftime('%s', 'now') as integer) * 1000000;

-- Sources: somebody else's servers, with what they allow and how they stand. One row for each, or for each account on it.
create table haulwright_sources (
    key              text    not null primary key,  -- the name, or name@account
    -- what it allows: as the code declares it, as a person changed it, and what is in force
    declared         text    not null,              -- JSON
    overridden       text,                          -- JSON
    overridden_by    text,
    enabled          integer not null,
    interval_us      integer not null,              -- between two grants on average; 0 is no limit
    burst            integer not null check (burst > 0),
    concurrency      integer,
    budget           integer,
    breaker_failures integer,
    cool_down_us     integer not null,
    credential       text,                          -- a fingerprint, never the secret
    -- the meters: grants that were given, and turns that were promised
    met_until        integer not null default 0,
    turns_until      integer not null default 0,
    granted          integer not null default 0,    -- by the last ask
    tickets          integer not null default 0,    -- in all
    held             integer not null default 0,    -- permits that are out
    spent            integer not null default 0,
    spent_day        integer not null default 0,
    -- closings
    paused_at        integer,
    paused_until     integer not null default 0,
    paused_by        text,
    paused_reason    text,
    parked_until     integer not null default 0,
    breaker          text    not null default 'closed' check (breaker in ('closed', 'open', 'half_open', 'refused')),
    breaker_since    integer,
    open_until       integer not null default 0,
    openings         integer not null default 0,    -- in a row, for a cool-down that grows
    probe_id         text,
    probe_fence      integer,
    probe_worker     text,
    probe_until      integer not null default 0,
    failure_streak   integer not null default 0,
    last_success_at  integer,
    last_failure_at  integer,
    asked_at         integer not null default 0,
    created_at       integer not null,
    updated_at       integer not null
) without rowid;

-- Permits of a source: as many rows as requests are under way, each under the fence of its job or with a time of its own.
create table haulwright_source_permits (
    source     text    not null,
    ticket     integer not null,
    holder     text    not null,                    -- a job, or somebody outside any job
    fence      integer not null,
    worker_id  text    not null,                    -- who holds it: the worker, or that somebody
    expires_at integer,                             -- only outside a job
    primary key (source, ticket)
) without rowid;
create index haulwright_source_permits_holder on haulwright_source_permits (holder);

-- What went through, by the minute.
create table haulwright_traffic (
    source    text    not null,
    minute    integer not null,
    requests  integer not null default 0,
    failed    integer not null default 0,
    throttled integer not null default 0,
    sent      integer not null default 0,
    received  integer not null default 0,
    busy_us   integer not null default 0,
    primary key (source, minute)
) without rowid;
create index haulwright_traffic_minute on haulwright_traffic (minute);

-- Answers that were kept.
create table haulwright_cache (
    key          text    not null primary key,      -- of the request with its tenant and credential
    source       text    not null,
    status       integer not null,
    head         text    not null,                  -- JSON
    body         blob    not null,
    size         integer not null,
    requested_at integer not null,
    answered_at  integer not null,
    fresh_until  integer not null,
    keep_until   integer not null
) without rowid;
create index haulwright_cache_keep on haulwright_cache (keep_until);
create index haulwright_cache_source on haulwright_cache (source);

-- Sources: somebody else's servers, with what they allow and how they stand. One row for each, or for each account on it.
create table penstock_sources (
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
    probe_until      integer not null default 0,
    failure_streak   integer not null default 0,
    last_success_at  integer,
    last_failure_at  integer,
    asked_at         integer not null default 0,
    created_at       integer not null,
    updated_at       integer not null
) without rowid;

-- Permits of a source: as many rows as requests are under way, each under the fence of its job or with a time of its own.
create table penstock_source_permits (
    source     text    not null,
    ticket     integer not null,
    holder     text    not null,                    -- a job, or somebody outside any job
    fence      integer not null,
    expires_at integer,                             -- only outside a job
    primary key (source, ticket)
) without rowid;
create index penstock_source_permits_holder on penstock_source_permits (holder);

-- What went through, by the minute.
create table penstock_traffic (
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
create index penstock_traffic_minute on penstock_traffic (minute);

-- Answers that were kept.
create table penstock_cache (
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
create index penstock_cache_keep on penstock_cache (keep_until);
create index penstock_cache_source on penstock_cache (source);

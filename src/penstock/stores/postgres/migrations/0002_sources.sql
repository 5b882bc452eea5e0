-- Sources: somebody else's servers, with what they allow and how they stand. One row for each, or for each account on it.
create table penstock_sources (
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
    probe_until      bigint  not null default 0,
    failure_streak   bigint  not null default 0,
    last_success_at  bigint,
    last_failure_at  bigint,
    asked_at         bigint  not null default 0,
    created_at       bigint  not null,
    updated_at       bigint  not null
);

-- Permits of a source: as many rows as requests are under way, each under the fence of its job or with a time of its own.
create table penstock_source_permits (
    source     text    not null,
    ticket     bigint  not null,
    holder     uuid    not null,                    -- a job, or somebody outside any job
    fence      bigint  not null,
    expires_at bigint,                             -- only outside a job
    primary key (source, ticket)
);
create index penstock_source_permits_holder on penstock_source_permits (holder);

-- What went through, by the minute.
create table penstock_traffic (
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
create index penstock_traffic_minute on penstock_traffic (minute);

-- Answers that were kept.
create table penstock_cache (
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
create index penstock_cache_keep on penstock_cache (keep_until);
create index penstock_cache_source on penstock_cache (source);

-- Prices on PostgreSQL: what intakes are worth, by what others ask and pay. Times are microseconds since 1970 UTC.

create table prices_intakes (
    tenant       text collate "C" not null,
    intake_id    text collate "C" not null,
    year         text,
    mintmark     text,
    denomination text,
    series       text,
    title        text,
    attributes   text   not null default '{}',  -- JSON: whatever else tells it from others
    currency     text,                          -- of its valuation; null is the one that most prices are in
    created_at   bigint not null,
    primary key (tenant, intake_id)
);

create table prices_sources (
    tenant     text collate "C" not null,
    source_id  text collate "C" not null,       -- the key of its gate
    name       text    not null,
    rules      text    not null,                -- JSON: where it answers and how its pages are read
    enabled    boolean not null default true,
    revision   integer not null default 1,      -- grows with every change
    created_at bigint  not null,
    updated_at bigint  not null,
    primary key (tenant, source_id),
    unique (tenant, name)
);

-- Every observation of a price: one for each listing, kind of price, day and currency.
create table prices_points (
    tenant         text collate "C" not null,
    intake_id      text collate "C" not null,
    source_id      text collate "C" not null,
    dedupe_key     text collate "C" not null,
    key_version    integer  not null,           -- of the rule that made the keys
    listing_key    text     not null,           -- the listing, whatever it costs and whenever
    external_id    text,
    url            text,
    title          text     not null,
    minor          bigint   not null check (minor > 0),  -- in the smallest unit of the currency
    currency       text     not null,
    price_type     text     not null check (price_type in ('sold', 'ask', 'bid')),
    day            text     not null,           -- of the sale, else of the reading, UTC
    match_strength integer  not null check (match_strength between 0 and 100),
    parser_version integer  not null,
    job_id         uuid     not null,           -- who wrote it last
    first_seen_at  bigint   not null,
    observed_at    bigint   not null,
    primary key (tenant, intake_id, source_id, dedupe_key),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
);

-- What the last collection could not use, item by item.
create table prices_quarantine (
    tenant     text collate "C" not null,
    intake_id  text collate "C" not null,
    source_id  text collate "C" not null,
    page       integer not null,
    place      integer not null,                -- among the items of the page, from 0
    job_id     uuid    not null,
    reason     text    not null,
    excerpt    text    not null,
    created_at bigint  not null,
    primary key (tenant, intake_id, source_id, page, place),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
);

create table prices_valuations (
    tenant     text collate "C" not null,
    intake_id  text collate "C" not null,
    version    integer not null check (version > 0),
    currency   text,
    basis      text,                            -- the kind of prices that it rests on
    centre     bigint,                          -- null where nothing compares
    low        bigint,
    high       bigint,
    spread     bigint,
    count      integer not null,
    confidence integer not null check (confidence between 0 and 100),
    detail     text    not null,                -- JSON: the points, the outliers, and what was left out
    valued_at  bigint  not null,
    primary key (tenant, intake_id),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
);

-- Every version that a valuation has had, the present one among them.
create table prices_valuation_versions (
    tenant     text collate "C" not null,
    intake_id  text collate "C" not null,
    version    integer not null,
    detail     text    not null,
    valued_at  bigint  not null,
    primary key (tenant, intake_id, version),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
);

-- What is last known of every listing. A sale outranks an offer; then the newest day counts.
create view prices_current as
select tenant, intake_id, source_id, dedupe_key, listing_key, external_id, url, title, minor, currency, price_type, day,
       match_strength, observed_at
from (
    select p.*, row_number() over (
        partition by tenant, intake_id, source_id, listing_key
        order by case price_type when 'sold' then 0 else 1 end, day desc, match_strength desc, observed_at desc,
                 dedupe_key) as place
    from prices_points p) ranked
where place = 1;

-- The words of the document, so that its queries run.
create view haulwright_v_scrape_jobs as
select j.id, j.tenant, j.args::json ->> 'intake_id' as intake_id, j.args::json ->> 'source_id' as source_id,
       (j.args::json -> 'query_params')::jsonb as query_params,
       case when j.state = 'running' then 'running'
            when j.attempts = 0 or j.error_code in ('lease_expired', 'process_died') then 'pending'
            else 'retryable' end as status,
       j.attempts,
       case when j.state = 'running' then greatest(j.attempts - 1, 0) else j.attempts end as retry_count,
       coalesce((select w.name from haulwright_workers w where w.id = j.worker_id), j.worker_id::text) as locked_by,
       to_timestamp(j.leased_at / 1e6) as locked_at,
       to_timestamp(j.heartbeat_at / 1e6) as heartbeat_at,
       case when j.state = 'queued' and j.attempts > 0 then to_timestamp(j.run_at / 1e6) end as next_retry_at,
       j.error_message, j.error_code,
       to_timestamp(j.created_at / 1e6) as created_at,
       null::timestamptz as completed_at, null::text as result
from haulwright_jobs j
where j.task = 'prices.collect'
union all
select j.id, j.tenant, j.args::json ->> 'intake_id', j.args::json ->> 'source_id',
       (j.args::json -> 'query_params')::jsonb,
       case j.state when 'succeeded' then 'succeeded' else 'failed' end,
       j.attempts, greatest(j.attempts - 1, 0),
       coalesce((select w.name from haulwright_workers w where w.id = j.worker_id), j.worker_id::text),
       to_timestamp(j.leased_at / 1e6),
       to_timestamp(j.heartbeat_at / 1e6), null,
       coalesce(j.error_message, j.reason), j.error_code,
       to_timestamp(j.created_at / 1e6), to_timestamp(j.finished_at / 1e6), j.result
from haulwright_history j
where j.task = 'prices.collect';

create view haulwright_v_sources as
select p.source_id as id, p.tenant, p.name, p.enabled and coalesce(s.enabled, true) as enabled,
       case when s.interval_us > 0 then round(60000000.0 / s.interval_us, 3)::double precision
           end as rate_limit_per_minute,
       coalesce(s.failure_streak, 0) as failure_streak,
       to_timestamp(s.last_success_at / 1e6) as last_success_at,
       to_timestamp(s.last_failure_at / 1e6) as last_failure_at,
       to_timestamp(nullif(greatest(s.paused_until, s.parked_until, case s.breaker when 'open' then s.open_until end),
                           0) / 1e6) as paused_until
from prices_sources p
left join haulwright_sources s on s.key = p.source_id;

create view haulwright_v_price_points as
select tenant, intake_id, source_id, dedupe_key, external_id, url, title, minor as price_cents, currency, price_type,
       day as date_bucket, match_strength, to_timestamp(first_seen_at / 1e6) as created_at,
       to_timestamp(observed_at / 1e6) as observed_at
from prices_points;

create view haulwright_v_coin_intakes as
select intake_id as id, tenant, year, mintmark, denomination, series, title, to_timestamp(created_at / 1e6) as created_at
from prices_intakes;

create view haulwright_v_valuations as
select intake_id, tenant, version, currency, basis, centre as value_cents, low as low_cents, high as high_cents, count,
       confidence, to_timestamp(valued_at / 1e6) as updated_at
from prices_valuations;

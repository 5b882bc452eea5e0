-- Prices on SQLite: what intakes are worth, by what others ask and pay. Times are microseconds since 1970 UTC.

create table prices_intakes (
    tenant       text    not null,
    intake_id    text    not null,
    year         text,
    mintmark     text,
    denomination text,
    series       text,
    title        text,
    attributes   text    not null default '{}',  -- JSON: whatever else tells it from others
    currency     text,                           -- of its valuation; null is the one that most prices are in
    created_at   integer not null,
    primary key (tenant, intake_id)
) without rowid;

create table prices_sources (
    tenant     text    not null,
    source_id  text    not null,                 -- the key of its gate
    name       text    not null,
    rules      text    not null,                 -- JSON: where it answers and how its pages are read
    enabled    integer not null default 1,
    revision   integer not null default 1,       -- grows with every change
    created_at integer not null,
    updated_at integer not null,
    primary key (tenant, source_id),
    unique (tenant, name)
) without rowid;

-- Every observation of a price: one for each listing, kind of price, day and currency.
create table prices_points (
    tenant         text    not null,
    intake_id      text    not null,
    source_id      text    not null,
    dedupe_key     text    not null,
    key_version    integer not null,             -- of the rule that made the keys
    listing_key    text    not null,             -- the listing, whatever it costs and whenever
    external_id    text,
    url            text,
    title          text    not null,
    minor          integer not null check (minor > 0),  -- in the smallest unit of the currency
    currency       text    not null,
    price_type     text    not null check (price_type in ('sold', 'ask', 'bid')),
    day            text    not null,             -- of the sale, else of the reading, UTC
    match_strength integer not null check (match_strength between 0 and 100),
    parser_version integer not null,
    job_id         text    not null,             -- who wrote it last
    first_seen_at  integer not null,
    observed_at    integer not null,
    primary key (tenant, intake_id, source_id, dedupe_key),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
) without rowid;

-- What the last collection could not use, item by item.
create table prices_quarantine (
    tenant     text    not null,
    intake_id  text    not null,
    source_id  text    not null,
    page       integer not null,
    place      integer not null,                 -- among the items of the page, from 0
    job_id     text    not null,
    reason     text    not null,
    excerpt    text    not null,
    created_at integer not null,
    primary key (tenant, intake_id, source_id, page, place),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
) without rowid;

create table prices_valuations (
    tenant     text    not null,
    intake_id  text    not null,
    version    integer not null check (version > 0),
    currency   text,
    basis      text,                             -- the kind of prices that it rests on
    centre     integer,                          -- null where nothing compares
    low        integer,
    high       integer,
    spread     integer,
    count      integer not null,
    confidence integer not null check (confidence between 0 and 100),
    detail     text    not null,                 -- JSON: the points, the outliers, and what was left out
    valued_at  integer not null,
    primary key (tenant, intake_id),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
) without rowid;

-- Every version that a valuation has had, the present one among them.
create table prices_valuation_versions (
    tenant     text    not null,
    intake_id  text    not null,
    version    integer not null,
    detail     text    not null,
    valued_at  integer not null,
    primary key (tenant, intake_id, version),
    foreign key (tenant, intake_id) references prices_intakes (tenant, intake_id) on delete cascade
) without rowid;

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
select j.id, j.tenant, j.args ->> '$.intake_id' as intake_id, j.args ->> '$.source_id' as source_id,
       j.args -> '$.query_params' as query_params,
       case when j.state = 'running' then 'running'
            when j.attempts = 0 or j.error_code in ('lease_expired', 'process_died') then 'pending'
            else 'retryable' end as status,
       j.attempts,
       case when j.state = 'running' then max(j.attempts - 1, 0) else j.attempts end as retry_count,
       coalesce((select w.name from haulwright_workers w where w.id = j.worker_id), j.worker_id) as locked_by,
       datetime(j.leased_at / 1000000, 'unixepoch') as locked_at,
       datetime(j.heartbeat_at / 1000000, 'unixepoch') as heartbeat_at,
       case when j.state = 'queued' and j.attempts > 0 then datetime(j.run_at / 1000000, 'unixepoch')
           end as next_retry_at,
       j.error_message, j.error_code,
       datetime(j.created_at / 1000000, 'unixepoch') as created_at,
       null as completed_at, null as result
from haulwright_jobs j
where j.task = 'prices.collect'
union all
select j.id, j.tenant, j.args ->> '$.intake_id', j.args ->> '$.source_id', j.args -> '$.query_params',
       case j.state when 'succeeded' then 'succeeded' else 'failed' end,
       j.attempts, max(j.attempts - 1, 0),
       coalesce((select w.name from haulwright_workers w where w.id = j.worker_id), j.worker_id),
       datetime(j.leased_at / 1000000, 'unixepoch'),
       datetime(j.heartbeat_at / 1000000, 'unixepoch'), null,
       coalesce(j.error_message, j.reason), j.error_code,
       datetime(j.created_at / 1000000, 'unixepoch'), datetime(j.finished_at / 1000000, 'unixepoch'), j.result
from haulwright_history j
where j.task = 'prices.collect';

create view haulwright_v_sources as
select p.source_id as id, p.tenant, p.name, p.enabled and coalesce(s.enabled, 1) as enabled,
       case when s.interval_us > 0 then round(60000000.0 / s.interval_us, 3) end as rate_limit_per_minute,
       coalesce(s.failure_streak, 0) as failure_streak,
       datetime(s.last_success_at / 1000000, 'unixepoch') as last_success_at,
       datetime(s.last_failure_at / 1000000, 'unixepoch') as last_failure_at,
       -- the year 9999 is as far as SQLite writes dates
       datetime(min(nullif(max(s.paused_until, s.parked_until, case s.breaker when 'open' then s.open_until else 0 end),
                           0) / 1000000, 253402300799), 'unixepoch') as paused_until
from prices_sources p
left join haulwright_sources s on s.key = p.source_id;

create view haulwright_v_price_points as
select tenant, intake_id, source_id, dedupe_key, external_id, url, title, minor as price_cents, currency, price_type,
       day as date_bucket, match_strength, datetime(first_seen_at / 1000000, 'unixepoch') as created_at,
       datetime(observed_at / 1000000, 'unixepoch') as observed_at
from prices_points;

create view haulwright_v_coin_intakes as
select intake_id as id, tenant, year, mintmark, denomination, series, title,
       datetime(created_at / 1000000, 'unixepoch') as created_at
from prices_intakes;

create view haulwright_v_valuations as
select intake_id, tenant, version, currency, basis, centre as value_cents, low as low_cents, high as high_cents, count,
       confidence, datetime(valued_at / 1000000, 'unixepoch') as updated_at
from prices_valuations;

-- The tables of brands on PostgreSQL. Every key begins with the tenant; times are microseconds since 1970 UTC; JSON is text.

create table brands_brands (
    tenant     text    not null,
    id         uuid    not null,
    name       text    not null check (name <> ''),
    answers    text    not null,                      -- the onboarding answers, by question
    removed_at bigint,                                -- it is being deleted: nothing is written for it any more
    created_at bigint  not null,
    updated_at bigint  not null,
    primary key (tenant, id)
);

create table brands_connections (
    tenant     text    not null,
    id         uuid    not null,
    brand_id   uuid    not null,
    platform   text    not null,
    capability text    not null,
    identifier text    not null check (identifier <> ''),
    settings   text    not null,
    enabled    boolean not null,
    removed_at bigint ,                               -- it is being deleted: nothing is written for it any more
    created_at bigint  not null,
    updated_at bigint  not null,
    primary key (tenant, id),
    unique (tenant, brand_id, id),
    unique (tenant, brand_id, platform, capability, identifier),
    foreign key (tenant, brand_id) references brands_brands (tenant, id)
);

-- One request to compile. Its job is found by the job key, which a requeue passes on.
create table brands_compile_runs (
    tenant          text    not null,
    id              uuid    not null,
    brand_id        uuid    not null,
    request_id      text    not null,
    job_key         text    not null,
    force_refresh   boolean not null,
    prompt_version  text    not null,
    model           text,
    evidence_status text,
    error           text,
    error_class     text,
    created_at      bigint  not null,
    started_at      bigint,
    finished_at     bigint,
    primary key (tenant, id),
    unique (tenant, brand_id, id),
    unique (tenant, request_id),
    foreign key (tenant, brand_id) references brands_brands (tenant, id)
);
create unique index brands_compile_runs_job_key on brands_compile_runs (tenant, job_key);
create index brands_compile_runs_of_brand on brands_compile_runs (tenant, brand_id, created_at);

-- What a compile wants of each source, and what became of it.
create table brands_compile_sources (
    tenant             text    not null,
    compile_run_id     uuid    not null,
    connection_id      uuid    not null,
    brand_id           uuid    not null,
    source             text    not null,              -- platform.capability
    job_id             uuid,
    outcome            text    check (outcome in ('reused', 'refreshed', 'skipped', 'failed')),
    reason             text,
    run_age_hours      double precision,
    apify_run_id       uuid,                          -- the run in brands_runs
    actor_run_id       text,                          -- the same as Apify names it
    apify_run_status   text,
    dataset_id         text,
    raw_items_count    integer not null default 0,
    normalized_created integer not null default 0,
    normalized_updated integer not null default 0,
    error              text,
    error_class        text,
    recorded_at        bigint,
    primary key (tenant, compile_run_id, connection_id),
    check ((outcome is null) = (recorded_at is null)),
    foreign key (tenant, brand_id, compile_run_id) references brands_compile_runs (tenant, brand_id, id),
    foreign key (tenant, brand_id, connection_id) references brands_connections (tenant, brand_id, id)
);
create index brands_compile_sources_of_brand on brands_compile_sources (tenant, brand_id);

-- Runs that are paid for, each written down before it is begun. Its id goes along as the marker by which it is found.
create table brands_runs (
    tenant             text    not null,
    id                 uuid    not null,
    brand_id           uuid    not null,
    connection_id      uuid    not null,
    job_id             uuid    not null,              -- whose it is
    actor              text    not null,
    input              text    not null,
    input_hash         text    not null,
    marked             boolean not null,              -- its id went along in the input
    taken_over         boolean not null default false, -- another job ordered it, and may have begun it
    cap                integer not null check (cap > 0),
    status             text    not null,              -- ORDERED, then Apify's own word, or timed_out where we gave up
    actor_run_id       text,
    dataset_id         text,
    dataset_items      integer,                       -- how many there were to fetch
    truncated          boolean not null default false,
    raw_item_count     integer not null default 0,
    normalized_created integer not null default 0,
    normalized_updated integer not null default 0,
    quarantined        integer not null default 0,
    usage_usd          double precision,
    error              text,
    error_class        text,
    requested_at       bigint  not null,
    started_at         bigint,
    fetched_at         bigint,
    normalized_at      bigint,
    finished_at        bigint,
    polled_at          bigint,                        -- when it was last looked at
    elapsed_us         bigint  not null default 0,    -- how long it had taken by then
    wait_us            bigint  not null default 0,    -- how long the wait after that look was meant to be
    pruned_at          bigint,                        -- since when its raw items are gone
    primary key (tenant, id),
    foreign key (tenant, brand_id, connection_id) references brands_connections (tenant, brand_id, id)
);
create unique index brands_runs_unfinished on brands_runs (tenant, connection_id) where finished_at is null;
create unique index brands_runs_actor_run on brands_runs (tenant, actor_run_id) where actor_run_id is not null;
create index brands_runs_fetched on brands_runs (tenant, connection_id, started_at) where fetched_at is not null;
create index brands_runs_of_brand on brands_runs (tenant, brand_id);
create index brands_runs_prunable on brands_runs (finished_at) where finished_at is not null and pruned_at is null;

create table brands_raw_items (
    tenant     text    not null,
    run_id     uuid    not null,
    item_index integer not null,
    bytes      integer not null,
    body       text,                                  -- null where it is too large to be kept
    primary key (tenant, run_id, item_index),
    foreign key (tenant, run_id) references brands_runs (tenant, id)
);

create table brands_quarantine (
    tenant     text    not null,
    run_id     uuid    not null,
    item_index integer not null,
    reason     text    not null,
    detail     text    not null,
    created_at bigint  not null,
    primary key (tenant, run_id, item_index),
    foreign key (tenant, run_id) references brands_runs (tenant, id)
);

-- Normalized items: one for each thing that was published, whichever runs have seen it.
create table brands_evidence (
    tenant        text    not null,
    id            uuid    not null,
    brand_id      uuid    not null,
    connection_id uuid    not null,
    run_id        uuid    not null,                   -- the run that it was last seen in
    platform      text    not null,
    capability    text    not null,
    content_type  text    not null,
    external_id   text,
    canonical_url text,
    author        text,
    title         text,
    body          text    not null,
    published_at  bigint,
    metrics       text    not null,
    media         text    not null,
    hashtags      text    not null,
    links         text    not null,
    observed_at   bigint  not null,
    revision      integer not null default 1,
    created_at    bigint  not null,
    updated_at    bigint  not null,
    primary key (tenant, id),
    check (platform = 'web' or coalesce(external_id, '') <> ''),
    check (platform <> 'web' or coalesce(canonical_url, '') <> ''),
    foreign key (tenant, brand_id, connection_id) references brands_connections (tenant, brand_id, id)
);
create unique index brands_evidence_external_id
    on brands_evidence (tenant, brand_id, platform, content_type, external_id) where platform <> 'web';
create unique index brands_evidence_web_canonical_url
    on brands_evidence (tenant, brand_id, platform, content_type, canonical_url) where platform = 'web';
create index brands_evidence_newest on brands_evidence (tenant, brand_id, connection_id, published_at);

-- In which raw items a normalized one was seen.
create table brands_evidence_refs (
    tenant      text    not null,
    evidence_id uuid    not null,
    run_id      uuid    not null,
    item_index  integer not null,
    primary key (tenant, evidence_id, run_id, item_index),
    foreign key (tenant, evidence_id) references brands_evidence (tenant, id)
);

create table brands_snapshots (
    tenant         text    not null,
    id             uuid    not null,
    brand_id       uuid    not null,
    compile_run_id uuid    not null,
    number         integer not null check (number > 0),
    compiler       text    not null,                  -- who made it, whatever was asked for
    bundle         text    not null,
    features       text    not null,
    document       text    not null,
    created_at     bigint  not null,
    primary key (tenant, id),
    unique (tenant, compile_run_id),
    unique (tenant, brand_id, number),
    foreign key (tenant, brand_id, compile_run_id) references brands_compile_runs (tenant, brand_id, id)
);

-- What is known of each source of a compile. One that nobody has told of yet counts as failed, should the compile end now.
create view brands_compile_outcomes as
select s.tenant, s.compile_run_id, s.connection_id, s.source, coalesce(s.outcome, 'failed') as outcome,
       coalesce(s.reason, 'The compile ended before its source') as reason, s.run_age_hours,
       coalesce(s.apify_run_id, r.id) as apify_run_id, coalesce(s.actor_run_id, r.actor_run_id) as actor_run_id,
       coalesce(s.apify_run_status, r.status) as apify_run_status, coalesce(s.dataset_id, r.dataset_id) as dataset_id,
       s.raw_items_count, s.normalized_created, s.normalized_updated, s.error, s.error_class
from brands_compile_sources s
left join brands_runs r on s.outcome is null and r.tenant = s.tenant and r.connection_id = s.connection_id
    and r.job_id = s.job_id and r.finished_at is null;

-- The evidence status of a compile: four lists, in the form that `evidence/status.py` gives and checks.
create view brands_evidence_status as
select c.tenant, c.id as compile_run_id, json_build_object(
       'reused', coalesce((select json_agg(json_build_object('source', o.source, 'connection_id', o.connection_id, 'reason', o.reason,
                                                 'apify_run_id', o.apify_run_id, 'actor_run_id', o.actor_run_id, 'dataset_id', o.dataset_id,
                                                 'run_age_hours', o.run_age_hours,
                                                 'normalized_created', o.normalized_created, 'normalized_updated', o.normalized_updated)
                                order by o.source, o.connection_id)
            from brands_compile_outcomes o
            where o.tenant = c.tenant and o.compile_run_id = c.id and o.outcome = 'reused'), '[]'),
       'refreshed', coalesce((select json_agg(json_build_object('source', o.source, 'connection_id', o.connection_id, 'reason', o.reason,
                                                 'apify_run_id', o.apify_run_id, 'actor_run_id', o.actor_run_id, 'dataset_id', o.dataset_id,
                                                 'apify_run_status', o.apify_run_status, 'raw_items_count', o.raw_items_count,
                                                 'normalized_created', o.normalized_created, 'normalized_updated', o.normalized_updated)
                                order by o.source, o.connection_id)
            from brands_compile_outcomes o
            where o.tenant = c.tenant and o.compile_run_id = c.id and o.outcome = 'refreshed'), '[]'),
       'skipped', coalesce((select json_agg(json_build_object('source', o.source, 'connection_id', o.connection_id, 'reason', o.reason)
                                order by o.source, o.connection_id)
            from brands_compile_outcomes o
            where o.tenant = c.tenant and o.compile_run_id = c.id and o.outcome = 'skipped'), '[]'),
       'failed', coalesce((select json_agg(json_build_object('source', o.source, 'connection_id', o.connection_id, 'reason', o.reason,
                                                 'error', coalesce(o.error, o.reason), 'error_class', coalesce(o.error_class, 'Unknown'),
                                                 'apify_run_id', o.apify_run_id, 'actor_run_id', o.actor_run_id,
                                                 'apify_run_status', o.apify_run_status, 'dataset_id', o.dataset_id)
                                order by o.source, o.connection_id)
            from brands_compile_outcomes o
            where o.tenant = c.tenant and o.compile_run_id = c.id and o.outcome = 'failed'), '[]'))::text as document
from brands_compile_runs c;

-- A compile whose job ends without success ends with it, in the same transaction, whoever ends the job: a worker that
-- buries it, another that takes it back from a dead one, a sweep past its deadline, or a person.
create function brands_end_compile() returns trigger language plpgsql set search_path from current as $$
begin
    with ended as (
        update brands_compile_runs c
        set evidence_status = (
                select document from brands_evidence_status s where s.tenant = c.tenant and s.compile_run_id = c.id),
            error = case when new.state = 'dead' and new.reason <> 'deadline' then coalesce(new.error_message, new.reason)
                         else 'Its job is ' || new.state || ': ' || coalesce(new.reason, 'no reason given') end,
            error_class = case when new.state = 'cancelled' then 'Cancelled' when new.reason = 'deadline' then 'Deadline'
                               else coalesce(new.error_class, 'JobLost') end,
            finished_at = new.finished_at
        where c.tenant = new.tenant and c.job_key = new.job_key and c.finished_at is null
        returning c.tenant, c.id, c.brand_id, c.error, c.error_class)
    insert into haulwright_events (at, tenant, name, job_id, attempt, fence, data)
    select new.finished_at, e.tenant, 'brand.compile_failed', new.id, new.attempts, new.fence,
           json_build_object('compile_run_id', e.id, 'brand_id', e.brand_id, 'error', e.error,
                             'error_class', e.error_class)::text
    from ended e;
    return null;
end $$;
create trigger brands_compile_ends after insert on haulwright_history
    for each row when (new.task = 'brands.compile' and new.state <> 'succeeded')
    execute function brands_end_compile();

-- A compile with the job that stands for it now.
create view brands_compiles as
select c.tenant, c.id, c.brand_id, k.job_id, c.request_id, c.force_refresh, c.prompt_version, c.model,
       c.evidence_status, c.error, c.error_class, c.created_at, c.started_at, c.finished_at
from brands_compile_runs c
left join haulwright_keys k on k.tenant = c.tenant and k.kind = 'job_key' and k.task = '' and k.key = c.job_key;

-- The jobs of compiles as their document names them.
create view haulwright_v_brandbrain_job as
select j.tenant, j.id, c.brand_id, c.id as compile_run_id, 'compile' as job_type,
       case when j.state = 'running' or j.waiting_on = 'join' then 'running' else 'pending' end as status,
       j.attempts, j.max_attempts,
       case when j.error_code = 'lease_expired' then 'Released from stale lock' else j.error_message end as last_error,
       to_timestamp(j.leased_at / 1e6) as locked_at,
       (select w.name from haulwright_workers w where w.id = j.worker_id) as locked_by,
       to_timestamp(j.run_at / 1e6) as available_at,
       json_build_object('force_refresh', c.force_refresh, 'prompt_version', c.prompt_version,
                         'model', c.model) as params_json,
       to_timestamp(j.created_at / 1e6) as created_at,
       to_timestamp(j.updated_at / 1e6) as updated_at,
       null::timestamptz as finished_at
from haulwright_jobs j
join brands_compile_runs c on c.tenant = j.tenant and c.id = (j.args::json ->> 'compile_run_id')::uuid
where j.task = 'brands.compile'
union all
select j.tenant, j.id, c.brand_id, c.id, 'compile',
       case j.state when 'succeeded' then 'succeeded' else 'failed' end,
       j.attempts, j.max_attempts,
       case when j.reason = 'lease_exhausted' then 'Stale lock after ' || j.attempts || ' attempts'
            when j.error_code = 'lease_expired' then 'Released from stale lock'
            else coalesce(j.error_message, j.reason) end,
       null, null,
       to_timestamp(j.run_at / 1e6),
       json_build_object('force_refresh', c.force_refresh, 'prompt_version', c.prompt_version,
                         'model', c.model),
       to_timestamp(j.created_at / 1e6), to_timestamp(j.updated_at / 1e6),
       to_timestamp(j.finished_at / 1e6)
from haulwright_history j
join brands_compile_runs c on c.tenant = j.tenant and c.id = (j.args::json ->> 'compile_run_id')::uuid
where j.task = 'brands.compile';

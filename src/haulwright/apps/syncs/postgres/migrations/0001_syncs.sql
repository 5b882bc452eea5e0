-- Syncs on PostgreSQL: the Airbyte connections of many tenants. Times are microseconds since 1970 UTC.

create table syncs_tenants (
    tenant     text collate "C" not null primary key,
    plan       text   not null,
    created_at bigint not null,
    updated_at bigint not null
);

create table syncs_connections (
    tenant              text collate "C" not null,
    connector_id        text collate "C" not null,
    airbyte_id          text    not null,           -- what Airbyte calls it
    workspace_id        text    not null,
    external_account_id text    not null,
    credential          text    not null,           -- its name; the secret is never written down
    cadence_us          bigint,                     -- as it was asked for; null is what the plan gives
    interval_us         bigint  not null check (interval_us > 0),  -- what is in force
    enabled             boolean not null default true,
    due_at              bigint  not null,
    triggered_at        bigint,                     -- when a sync of it last began
    synced_at           bigint,                     -- when one last succeeded
    last_run_id         bigint,                     -- the newest of its runs that we know
    created_at          bigint  not null,
    updated_at          bigint  not null,
    primary key (tenant, connector_id)
);
create unique index syncs_connections_airbyte on syncs_connections (airbyte_id);
create index syncs_connections_due on syncs_connections (due_at) where enabled;
create index syncs_connections_credential on syncs_connections (credential, tenant);

-- What runs at Airbyte for our jobs: one row for each trigger.
create table syncs_runs (
    tenant           text collate "C" not null,
    job_key          text    not null,
    round            integer not null,              -- the how-manieth trigger of this work
    job_id           uuid    not null,              -- the job that waits for it
    connector_id     text    not null,
    workspace_id     text    not null,
    credential       text    not null,
    run_id           bigint  not null,
    status           text    not null,
    adopted          boolean not null,
    records          bigint,
    bytes            bigint,
    duration_seconds double precision,
    started_at       bigint  not null,
    ended_at         bigint,                        -- when we learned that it is over
    settled_at       bigint,                        -- when its job drew the conclusion
    primary key (tenant, job_key, round)
);
create index syncs_runs_watched on syncs_runs (credential, workspace_id) where settled_at is null;
create index syncs_runs_settled on syncs_runs (settled_at) where settled_at is not null;
create index syncs_runs_job on syncs_runs (tenant, job_id, round);

-- The jobs of syncs in the words of the document, so that its queries run.
create view haulwright_v_ingestion_jobs as
select j.id as job_id, j.tenant as tenant_id, j.args::json ->> 'connector_id' as connector_id,
       j.args::json ->> 'external_account_id' as external_account_id,
       case when j.state = 'running' or (r.run_id is not null and r.settled_at is null) then 'running'
            when j.attempts > 0 then 'failed' else 'queued' end as status,
       case when j.state = 'running' then greatest(j.attempts - 1, 0) else j.attempts end as retry_count,
       r.run_id::text as run_id, j.correlation_id, j.error_message, j.error_code,
       case when j.state = 'queued' and j.attempts > 0 and (r.run_id is null or r.settled_at is not null)
            then to_timestamp(j.run_at / 1e6) end as next_retry_at,
       to_timestamp(j.created_at / 1e6) as created_at,
       to_timestamp(coalesce(r.started_at, j.started_at) / 1e6) as started_at,
       null::timestamptz as finished_at, r.records as records_synced, r.duration_seconds
from haulwright_jobs j
left join syncs_runs r on r.tenant = j.tenant and r.job_id = j.id and r.round = (
    select max(round) from syncs_runs where tenant = j.tenant and job_id = j.id)
where j.task = 'syncs.sync'
union all
select j.id, j.tenant, j.args::json ->> 'connector_id', j.args::json ->> 'external_account_id',
       case j.state when 'succeeded' then 'success' when 'dead' then 'dead_letter' else j.state end,
       greatest(j.attempts - 1, 0), r.run_id::text, j.correlation_id, j.error_message, j.error_code, null,
       to_timestamp(j.created_at / 1e6),
       to_timestamp(coalesce(r.started_at, j.started_at) / 1e6),
       to_timestamp(j.finished_at / 1e6), r.records, r.duration_seconds
from haulwright_history j
left join syncs_runs r on r.tenant = j.tenant and r.job_id = j.id and r.round = (
    select max(round) from syncs_runs where tenant = j.tenant and job_id = j.id)
where j.task = 'syncs.sync';

-- Syncs that have been running for more than two hours, the oldest first.
create view syncs_stuck as
select job_id, tenant_id, connector_id, run_id, started_at
from haulwright_v_ingestion_jobs
where status = 'running' and started_at < now() - interval '2 hours'
order by started_at;

-- Dead letters that nobody requeued yet.
create view syncs_dead_letters as
select tenant as tenant_id, error_code, count(*) as jobs, to_timestamp(min(finished_at) / 1e6) as oldest_at
from haulwright_history
where task = 'syncs.sync' and state = 'dead' and requeued_to is null
group by tenant, error_code;

create view syncs_by_connector as
select tenant_id, connector_id, count(*) filter (where status = 'success') as succeeded,
       count(*) filter (where status = 'dead_letter') as dead,
       round(1.0 * count(*) filter (where status = 'success')
             / nullif(count(*) filter (where status in ('success', 'dead_letter')), 0), 4)::double precision as success_rate,
       round((avg(duration_seconds) filter (where status = 'success'))::numeric, 3)::double precision
           as mean_duration_seconds,
       coalesce(sum(records_synced) filter (where status = 'success'), 0)::bigint as records_synced
from haulwright_v_ingestion_jobs
group by tenant_id, connector_id;

-- How often syncs failed and were tried again, by what went wrong; the rate is for each sync that there was.
create view syncs_retries as
select e.data::json ->> 'error_code' as error_code, count(*) as retries, count(distinct e.job_id) as jobs,
       round(1.0 * count(*) / (select count(*) from haulwright_v_ingestion_jobs), 4)::double precision as rate
from haulwright_events e
where e.name = 'job.failed' and e.job_id in (select job_id from haulwright_v_ingestion_jobs)
group by e.data::json ->> 'error_code';

create view syncs_queued_per_minute as
select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as minute, count(*) as queued
from haulwright_v_ingestion_jobs
group by to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI');

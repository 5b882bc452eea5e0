-- The daily brief on PostgreSQL: feeds, their articles, the events they are about. Times are microseconds since 1970 UTC.

create table brief_feeds (
    tenant         text collate "C" not null,
    id             text collate "C" not null,       -- follows from the address
    url            text collate "C" not null,
    name           text    not null,
    weight         double precision not null check (weight > 0),
    enabled        boolean not null default true,
    due_at         bigint  not null,               -- not asked again before
    etag           text,                           -- validators of the body whose articles are all written
    last_modified  text,
    body_hash      text,
    format         text,
    warnings       text    not null default '[]',  -- what was wrong with the last body, and how it was read
    checked_at     bigint,                         -- the server last answered
    changed_at     bigint,                         -- with another body
    failures       integer not null default 0,     -- in a row
    last_error     text,
    last_failed_at bigint,
    rest_us        bigint  not null default 0,     -- for how long its last body asked to be left alone
    created_at     bigint  not null,
    updated_at     bigint  not null,
    primary key (tenant, id)
);
create unique index brief_feeds_url on brief_feeds (tenant, url);

create table brief_articles (
    tenant        text collate "C" not null,
    id            text collate "C" not null,        -- follows from its identity
    feed_id       text collate "C" not null,        -- the feed that brought it, and that may edit it
    url           text collate "C",                 -- canonical; null where the feed gives no address
    canon_version integer not null,                -- of the rule that made the url
    link          text,                            -- where it leads, as the feed writes it
    guid          text,
    title         text    not null,
    text          text    not null,
    author        text,
    published_at  bigint,                          -- null where the feed says nothing that can be true
    at            bigint  not null,                -- when it counts as published
    content_hash  text    not null,
    edits         integer not null default 0,
    placed        text collate "C",                 -- the version of clustering that last placed it
    briefed_on    text collate "C",                 -- the day of the brief that it is in
    shown         boolean not null default false,  -- which told of its event, and did not leave it out
    seen_at       bigint  not null,
    updated_at    bigint  not null,
    primary key (tenant, id)
);
create unique index brief_articles_url on brief_articles (tenant, md5(url)) where url is not null;
create index brief_articles_order on brief_articles (tenant, at, id, placed);
create index brief_articles_unbriefed on brief_articles (tenant, at, id) where briefed_on is null;
create index brief_articles_briefed on brief_articles (tenant, briefed_on) where briefed_on is not null;
create index brief_articles_seen on brief_articles (seen_at);
create index brief_articles_feed on brief_articles (tenant, feed_id);

-- What was ever taken in. It outlives the articles: nothing comes back as new.
create table brief_seen (
    tenant     text collate "C" not null,
    article_id text collate "C" not null,
    seen_at    bigint not null,
    primary key (tenant, article_id)
);

-- Which article belongs to which event: one for each article and version of clustering.
create table brief_links (
    tenant       text collate "C" not null,
    version      text collate "C" not null,
    article_id   text collate "C" not null,
    cluster_id   text collate "C" not null,
    place        bigint not null,                  -- the order in which articles were placed
    at           bigint not null,
    signature    text   not null,                  -- what clustering needs to know of it
    similarity   double precision not null,
    nearest      text,
    duplicate_of text,
    placed_at    bigint not null,
    primary key (tenant, version, article_id),
    foreign key (tenant, article_id) references brief_articles (tenant, id)
);
create unique index brief_links_place on brief_links (tenant, version, place);
create index brief_links_cluster on brief_links (tenant, version, cluster_id);
create index brief_links_article on brief_links (tenant, article_id);

-- Briefs as they were published. They are never changed and never removed, nor is an article that one of them cites. A day
-- whose brief was withdrawn gets another edition.
create table brief_briefs (
    tenant       text collate "C" not null,
    day          text collate "C" not null,
    edition      integer not null default 1,
    version      text    not null,
    document     text    not null,                 -- JSON
    articles     integer not null,
    events       integer not null,
    published_at bigint  not null,
    primary key (tenant, day, edition)
);

-- Editions that do not count any more, with who withdrew them and why.
create table brief_withdrawals (
    tenant       text collate "C" not null,
    day          text collate "C" not null,
    edition      integer not null,
    actor        text    not null,
    reason       text    not null,
    withdrawn_at bigint  not null,
    primary key (tenant, day, edition),
    foreign key (tenant, day, edition) references brief_briefs (tenant, day, edition)
);

create view brief_current as
select b.tenant, b.day, b.edition, b.version, b.document, b.articles, b.events, b.published_at from brief_briefs b
where not exists (select 1 from brief_withdrawals w
                  where w.tenant = b.tenant and w.day = b.day and w.edition = b.edition);

create table brief_citations (
    tenant     text collate "C" not null,
    day        text collate "C" not null,
    edition    integer not null default 1,
    article_id text collate "C" not null,
    primary key (tenant, day, edition, article_id),
    foreign key (tenant, day, edition) references brief_briefs (tenant, day, edition),
    foreign key (tenant, article_id) references brief_articles (tenant, id)
);
create index brief_citations_article on brief_citations (tenant, article_id);

create function brief_refuse() returns trigger language plpgsql as $$
begin
    raise exception 'a published brief is never changed';
end
$$;
create trigger brief_briefs_are_final before update or delete on brief_briefs
    for each row execute function brief_refuse();

-- The words of the document, so that its queries run.
create view haulwright_v_raw_articles as
select a.tenant as tenant_id, a.id, a.feed_id, f.name as feed, a.url, a.link, a.guid, a.title, a.text, a.author,
       to_timestamp(a.published_at / 1e6) as published_at, to_timestamp(a.seen_at / 1e6) as created_at,
       to_timestamp(a.updated_at / 1e6) as updated_at, a.content_hash, a.edits
from brief_articles a
left join brief_feeds f on f.tenant = a.tenant and f.id = a.feed_id;

create view haulwright_v_cluster_articles as
select tenant as tenant_id, version, cluster_id, article_id as raw_article_id, similarity, duplicate_of,
       to_timestamp(placed_at / 1e6) as created_at
from brief_links;

create view haulwright_v_event_clusters as
select tenant as tenant_id, version, cluster_id as id, count(*) as article_count,
       to_timestamp(min(at) / 1e6) as first_article_at, to_timestamp(max(at) / 1e6) as last_article_at
from brief_links
group by tenant, version, cluster_id;

-- One row for each slot whose job has begun. Between two attempts it tells of the last one. What has ended is read from the
-- slot, which keeps it; beside it is what is under way, and what has ended so lately that nobody wrote it down yet.
create view haulwright_v_job_runs as
select s.job_id as id, s.schedule as job_name, to_timestamp(s.scheduled_for / 1e6) as scheduled_for,
       to_timestamp(s.started_at / 1e6) as started_at, to_timestamp(s.finished_at / 1e6) as finished_at,
       case s.ending when 'succeeded' then 'success' when 'skipped' then 'success'
            when 'timed_out' then 'skipped_timeout' when 'lost' then 'skipped_timeout' else 'failed' end as status,
       substr(s.worker, 1, 128) as worker_instance,
       case when s.ending in ('succeeded', 'skipped') then null
            when s.ending = 'recovered' then 'worker_startup_recovery'
            else s.error end as error_message,
       (s.result::json ->> 'rows')::bigint as rows_processed
from haulwright_slots s
where s.ending is not null and s.ending <> 'unknown'
  and s.schedule in ('rss_ingestion', 'event_clustering', 'retention_cleanup', 'daily_brief')
union all
select j.id, s.schedule, to_timestamp(s.scheduled_for / 1e6), to_timestamp(j.started_at / 1e6),
       case when j.state = 'queued' and j.waiting_on is distinct from 'join' then to_timestamp(j.updated_at / 1e6) end,
       case when j.state = 'running' or j.waiting_on = 'join' then 'running'
            when j.error_class = 'LeaseLost' and 'worker_startup_recovery' = (
                select e.data::json ->> 'detected_by' from haulwright_events e
                where e.job_id = j.id and e.name = 'job.lease_expired' order by e.seq desc limit 1) then 'failed'
            when j.error_class in ('LeaseLost', 'TimedOut') then 'skipped_timeout'
            else 'failed' end,
       substr(coalesce(w.name, j.worker_id::text), 1, 128),
       case when j.state = 'running' or j.waiting_on = 'join' then null
            when j.error_class = 'LeaseLost' and 'worker_startup_recovery' = (
                select e.data::json ->> 'detected_by' from haulwright_events e
                where e.job_id = j.id and e.name = 'job.lease_expired' order by e.seq desc limit 1) then 'worker_startup_recovery'
            else j.error_message end,
       null::bigint
from haulwright_slots s
join haulwright_jobs j on j.id = s.job_id
left join haulwright_workers w on w.id = j.worker_id
where s.ending is null and s.job_id is not null and s.disposition in ('fired', 'backfilled', 'manual')
  and s.schedule in ('rss_ingestion', 'event_clustering', 'retention_cleanup', 'daily_brief')
  and (j.state = 'running' or j.attempts > 0 or j.losses > 0 or j.waiting_on = 'join')
union all
select h.id, s.schedule, to_timestamp(s.scheduled_for / 1e6), to_timestamp(h.started_at / 1e6), to_timestamp(h.finished_at / 1e6),
       case when h.state in ('succeeded', 'skipped') then 'success'
            when h.state = 'cancelled' then 'failed'
            when h.error_class = 'LeaseLost' and 'worker_startup_recovery' = (
                select e.data::json ->> 'detected_by' from haulwright_events e
                where e.job_id = h.id and e.name = 'job.lease_expired' order by e.seq desc limit 1) then 'failed'
            when h.error_class in ('LeaseLost', 'TimedOut') then 'skipped_timeout'
            else 'failed' end,
       substr(coalesce(w.name, h.worker_id::text), 1, 128),
       case when h.state in ('succeeded', 'skipped') then null
            when h.state = 'dead' and h.error_class = 'LeaseLost' and 'worker_startup_recovery' = (
                select e.data::json ->> 'detected_by' from haulwright_events e
                where e.job_id = h.id and e.name = 'job.lease_expired' order by e.seq desc limit 1) then 'worker_startup_recovery'
            else coalesce(h.error_message, h.reason) end,
       (h.result::json ->> 'rows')::bigint
from haulwright_slots s
join haulwright_history h on h.id = s.job_id
left join haulwright_workers w on w.id = h.worker_id
where s.ending is null and s.job_id is not null and s.disposition in ('fired', 'backfilled', 'manual')
  and s.schedule in ('rss_ingestion', 'event_clustering', 'retention_cleanup', 'daily_brief');

-- The indexes of the document, by the words of the view.
create index brief_runs_status on haulwright_slots (
       (case ending when 'succeeded' then 'success' when 'skipped' then 'success'
            when 'timed_out' then 'skipped_timeout' when 'lost' then 'skipped_timeout' else 'failed' end))
    where ending is not null;
create index brief_runs_started on haulwright_slots ((to_timestamp(started_at / 1e6))) where ending is not null;

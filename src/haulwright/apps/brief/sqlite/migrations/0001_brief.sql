-- The daily brief on SQLite: feeds, their articles, the events they are about. Times are microseconds since 1970 UTC.

create table brief_feeds (
    tenant         text    not null,
    id             text    not null,               -- follows from the address
    url            text    not null,
    name           text    not null,
    weight         real    not null check (weight > 0),
    enabled        integer not null default 1,
    due_at         integer not null,               -- not asked again before
    etag           text,                           -- validators of the body whose articles are all written
    last_modified  text,
    body_hash      text,
    format         text,
    warnings       text    not null default '[]',  -- what was wrong with the last body, and how it was read
    checked_at     integer,                        -- the server last answered
    changed_at     integer,                        -- with another body
    failures       integer not null default 0,     -- in a row
    last_error     text,
    last_failed_at integer,
    rest_us        integer not null default 0,     -- for how long its last body asked to be left alone
    created_at     integer not null,
    updated_at     integer not null,
    primary key (tenant, id)
) without rowid;
create unique index brief_feeds_url on brief_feeds (tenant, url);

create table brief_articles (
    tenant        text    not null,
    id            text    not null,                -- follows from its identity
    feed_id       text    not null,                -- the feed that brought it, and that may edit it
    url           text,                            -- canonical; null where the feed gives no address
    canon_version integer not null,                -- of the rule that made the url
    link          text,                            -- where it leads, as the feed writes it
    guid          text,
    title         text    not null,
    text          text    not null,
    author        text,
    published_at  integer,                         -- null where the feed says nothing that can be true
    at            integer not null,                -- when it counts as published
    content_hash  text    not null,
    edits         integer not null default 0,
    placed        text,                            -- the version of clustering that last placed it
    briefed_on    text,                            -- the day of the brief that it is in
    shown         integer not null default 0,      -- which told of its event, and did not leave it out
    seen_at       integer not null,
    updated_at    integer not null,
    primary key (tenant, id)
) without rowid;
create unique index brief_articles_url on brief_articles (tenant, url) where url is not null;
create index brief_articles_order on brief_articles (tenant, at, id, placed);
create index brief_articles_unbriefed on brief_articles (tenant, at, id) where briefed_on is null;
create index brief_articles_briefed on brief_articles (tenant, briefed_on) where briefed_on is not null;
create index brief_articles_seen on brief_articles (seen_at);
create index brief_articles_feed on brief_articles (tenant, feed_id);

-- What was ever taken in. It outlives the articles: nothing comes back as new.
create table brief_seen (
    tenant     text    not null,
    article_id text    not null,
    seen_at    integer not null,
    primary key (tenant, article_id)
) without rowid;

-- Which article belongs to which event: one for each article and version of clustering.
create table brief_links (
    tenant       text    not null,
    version      text    not null,
    article_id   text    not null,
    cluster_id   text    not null,
    place        integer not null,                 -- the order in which articles were placed
    at           integer not null,
    signature    text    not null,                 -- what clustering needs to know of it
    similarity   real    not null,
    nearest      text,
    duplicate_of text,
    placed_at    integer not null,
    primary key (tenant, version, article_id),
    foreign key (tenant, article_id) references brief_articles (tenant, id)
) without rowid;
create unique index brief_links_place on brief_links (tenant, version, place);
create index brief_links_cluster on brief_links (tenant, version, cluster_id);
create index brief_links_article on brief_links (tenant, article_id);

-- Briefs as they were published. They are never changed and never removed, nor is an article that one of them cites. A day
-- whose brief was withdrawn gets another edition.
create table brief_briefs (
    tenant       text    not null,
    day          text    not null,
    edition      integer not null default 1,
    version      text    not null,
    document     text    not null,                 -- JSON
    articles     integer not null,
    events       integer not null,
    published_at integer not null,
    primary key (tenant, day, edition)
) without rowid;

-- Editions that do not count any more, with who withdrew them and why.
create table brief_withdrawals (
    tenant       text    not null,
    day          text    not null,
    edition      integer not null,
    actor        text    not null,
    reason       text    not null,
    withdrawn_at integer not null,
    primary key (tenant, day, edition),
    foreign key (tenant, day, edition) references brief_briefs (tenant, day, edition)
) without rowid;

create view brief_current as
select b.tenant, b.day, b.edition, b.version, b.document, b.articles, b.events, b.published_at from brief_briefs b
where not exists (select 1 from brief_withdrawals w
                  where w.tenant = b.tenant and w.day = b.day and w.edition = b.edition);

create table brief_citations (
    tenant     text not null,
    day        text not null,
    edition    integer not null default 1,
    article_id text not null,
    primary key (tenant, day, edition, article_id),
    foreign key (tenant, day, edition) references brief_briefs (tenant, day, edition),
    foreign key (tenant, article_id) references brief_articles (tenant, id)
) without rowid;
create index brief_citations_article on brief_citations (tenant, article_id);

create trigger brief_briefs_are_final before update on brief_briefs
begin
    select raise(abort, 'a published brief is never changed');
end;
create trigger brief_briefs_are_kept before delete on brief_briefs
begin
    select raise(abort, 'a published brief is kept');
end;

-- The words of the document, so that its queries run.
create view haulwright_v_raw_articles as
select a.tenant as tenant_id, a.id, a.feed_id, f.name as feed, a.url, a.link, a.guid, a.title, a.text, a.author,
       datetime(a.published_at / 1000000, 'unixepoch') as published_at,
       datetime(a.seen_at / 1000000, 'unixepoch') as created_at,
       datetime(a.updated_at / 1000000, 'unixepoch') as updated_at, a.content_hash, a.edits
from brief_articles a
left join brief_feeds f on f.tenant = a.tenant and f.id = a.feed_id;

create view haulwright_v_cluster_articles as
select tenant as tenant_id, version, cluster_id, article_id as raw_article_id, similarity, duplicate_of,
       datetime(placed_at / 1000000, 'unixepoch') as created_at
from brief_links;

create view haulwright_v_event_clusters as
select tenant as tenant_id, version, cluster_id as id, count(*) as article_count,
       datetime(min(at) / 1000000, 'unixepoch') as first_article_at,
       datetime(max(at) / 1000000, 'unixepoch') as last_article_at
from brief_links
group by tenant, version, cluster_id;

-- One row for each slot whose job has begun. Between two attempts it tells of the last one.
create view haulwright_v_job_runs as
select run.id, run.job_name, datetime(run.scheduled_for / 1000000, 'unixepoch') as scheduled_for,
       datetime(run.started_at / 1000000, 'unixepoch') as started_at,
       datetime(run.finished_at / 1000000, 'unixepoch') as finished_at,
       case when run.state in ('running', 'waiting') then 'running'
            when run.state in ('succeeded', 'skipped') then 'success'
            when run.error_class = 'LeaseLost' and run.detected_by = 'worker_startup_recovery' then 'failed'
            when run.error_class in ('LeaseLost', 'TimedOut') then 'skipped_timeout'
            else 'failed' end as status,
       substr(coalesce(w.name, run.worker_id), 1, 128) as worker_instance,
       case when run.state in ('running', 'waiting', 'succeeded', 'skipped') then null
            when run.error_class = 'LeaseLost' and run.detected_by = 'worker_startup_recovery'
            then 'worker_startup_recovery'
            else coalesce(run.error_message, run.reason) end as error_message,
       run.rows_processed
from (
    select j.id, s.schedule as job_name, s.scheduled_for, j.started_at, j.finished_at, j.state, j.reason, j.error_class,
           j.error_message, j.worker_id, j.result ->> '$.rows' as rows_processed,
           (select e.data ->> '$.detected_by' from haulwright_events e
            where e.job_id = j.id and e.name = 'job.lease_expired' order by e.seq desc limit 1) as detected_by
    from haulwright_slots s
    join (
        select id, case when waiting_on = 'join' then 'waiting' else state end as state, null as reason, error_class,
               error_message, started_at, worker_id, null as result,
               case when state = 'queued' and waiting_on is not 'join' then updated_at end as finished_at
        from haulwright_jobs where state = 'running' or attempts > 0 or losses > 0 or waiting_on = 'join'
        union all
        select id, state, reason, error_class, error_message, started_at, worker_id, result, finished_at
        from haulwright_history
    ) j on j.id = s.job_id
    where s.schedule in ('rss_ingestion', 'event_clustering', 'retention_cleanup', 'daily_brief')
      and s.disposition in ('fired', 'backfilled', 'manual')
) run
left join haulwright_workers w on w.id = run.worker_id;

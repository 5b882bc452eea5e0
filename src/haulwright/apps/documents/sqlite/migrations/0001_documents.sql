-- Documents on SQLite: artefacts that are planned, and the files that came. Times are microseconds since 1970 UTC.

create table documents_artifacts (
    tenant          text    not null,
    key             text    not null,           -- the job key that it was planned under
    work_id         text    not null,
    artifact_id     text    not null,
    canonical_url   text    not null,           -- by which it is known
    shown_url       text    not null,           -- the same as people may see it
    canon_version   integer not null,           -- of the rules that made it
    url             text    not null,           -- where it is fetched, signature and all
    name            text    not null,           -- a file name that leads nowhere else
    title           text,
    expected_sha256 text,
    expected_bytes  integer,
    expected_kind   text,
    manifest        text    not null,           -- where it was listed
    sha256          text,                       -- of what came
    outcome         text check (outcome in ('FINALIZED', 'INDEXED', 'DEDUPED', 'SKIPPED_DUPLICATE')),
    duplicate_of    text,                       -- the key of the first with the same bytes, or the same text
    repair_key      text,                       -- the job key of what fetches it again, where its file was lost
    planned_at      integer not null,
    updated_at      integer not null,
    primary key (tenant, key)
) without rowid;
create index documents_artifacts_url on documents_artifacts (tenant, canonical_url);

-- One row for each content that a tenant has: the index of its documents.
create table documents_files (
    id           integer primary key autoincrement,  -- the row of its words; never used twice
    tenant       text    not null,
    sha256       text    not null,
    key          text    not null,              -- the artefact that brought it first
    bytes        integer not null,
    kind         text    not null,
    source       text    not null,              -- its address without query and credentials
    title        text    not null,
    text         text,                          -- the beginning of what it says
    text_sha256  text,
    text_problem text,                          -- why there is none
    same_as      text,                          -- the sha256 of an earlier file with the same text
    stored_at    integer not null,
    indexed_at   integer,
    missing_at   integer                        -- since when the file is not in its place
);
create unique index documents_files_content on documents_files (tenant, sha256);
create index documents_files_text on documents_files (tenant, text_sha256) where text_sha256 is not null;
create index documents_files_newest on documents_files (tenant, stored_at);
create index documents_files_unread on documents_files (tenant, sha256) where indexed_at is null;

-- The words of each file. They are folded before they come here, so that both databases hold the same ones.
create virtual table documents_words using fts5 (
    words, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co Cn'");

-- What the operations of a document came to, kept for as long as the document is; the ledger of the engine forgets them
-- with their job.
create table documents_operations (
    tenant     text    not null,
    key        text    not null,
    job_id     text    not null,
    name       text    not null,
    tries      integer not null,
    result     text,
    started_at integer not null,
    settled_at integer,
    primary key (tenant, key)
) without rowid;

-- The jobs of documents in the words of the document, so that its queries run.
create view haulwright_v_artifact_jobs as
select k.job_id, a.work_id, a.artifact_id, a.shown_url as canonical_url,
       case when a.outcome is not null then a.outcome
            when h.state in ('dead', 'cancelled') then 'FAILED'
            when j.state = 'running' and coalesce(s.stage, 'PLANNED') = 'PLANNED' then 'LEASED'
            when j.id is null and h.id is null then 'FAILED'
            else coalesce(s.stage, 'PLANNED') end as state,
       case when j.state = 'running' then w.name end as lease_owner,
       datetime(j.lease_expires_at / 1000000, 'unixepoch') as lease_until,
       coalesce(j.attempts, h.attempts) as attempts,
       coalesce(j.error_code, h.error_code) as error_code, coalesce(j.error_message, h.error_message) as error_message,
       datetime(a.planned_at / 1000000, 'unixepoch') as created_at,
       datetime(max(a.updated_at, coalesce(j.updated_at, h.updated_at, 0)) / 1000000, 'unixepoch') as updated_at,
       a.key as idempotency_key, a.sha256, a.duplicate_of, a.tenant
from documents_artifacts a
left join haulwright_keys k
    on k.tenant = a.tenant and k.kind = 'job_key' and k.task = '' and k.key = coalesce(a.repair_key, a.key)
left join haulwright_jobs j on j.id = k.job_id
left join haulwright_history h on h.id = k.job_id
left join haulwright_workers w on w.id = j.worker_id
left join haulwright_stages s on s.tenant = a.tenant and s.job_key = coalesce(j.job_key, h.job_key) and s.generation = (
    select max(generation) from haulwright_stages
    where tenant = a.tenant and job_key = coalesce(j.job_key, h.job_key));

create view haulwright_v_artifact_ops as
select e.key as op_key, e.job_id,
       substr(replace(e.name, 'commit:', ''), 1, instr(replace(e.name, 'commit:', '') || ':', ':') - 1) as op_type,
       case when e.state = 'intent' and h.id is not null then 'abandoned' else e.state end as state, e.tries,
       datetime(e.started_at / 1000000, 'unixepoch') as started_at,
       datetime(e.settled_at / 1000000, 'unixepoch') as finished_at,
       case when e.result like '{%' then e.result ->> '$.code' end as result_code, e.result as result_json, e.tenant
from haulwright_effects e
left join haulwright_jobs j on j.id = e.job_id
left join haulwright_history h on h.id = e.job_id
where coalesce(j.task, h.task) = 'documents.fetch'
union all
select o.key, o.job_id, substr(o.name, 1, instr(o.name || ':', ':') - 1), 'done', o.tries,
       datetime(o.started_at / 1000000, 'unixepoch'), datetime(o.settled_at / 1000000, 'unixepoch'),
       case when o.result like '{%' then o.result ->> '$.code' end, o.result, o.tenant
from documents_operations o
where not exists (select 1 from haulwright_effects e where e.tenant = o.tenant and e.key = o.key);

-- The version of the document whose words these are, where all that they stand on is there; else 0.
create view haulwright_v__meta as
select 'schema_version' as key, cast(schema_version as text) as value, schema_version
from (
    select case when count(*) = 10 then 3 else 0 end as schema_version
    from sqlite_master
    where type in ('table', 'view') and name in (
        'documents_artifacts', 'documents_files', 'documents_words', 'documents_operations', 'haulwright_jobs',
        'haulwright_history', 'haulwright_keys', 'haulwright_effects', 'haulwright_stages', 'haulwright_workers'));

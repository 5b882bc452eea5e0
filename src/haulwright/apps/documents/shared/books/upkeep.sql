-- What the reconciler and the watch ask.

-- name: stale_leases
select tenant, id, fence, worker_id, heartbeat_at, lease_expires_at, lease_us from haulwright_jobs
where state = 'running' and lease_expires_at < haulwright_now(:now) and task = 'documents.fetch'
order by lease_expires_at limit :limit;

-- name: abandoned
-- Effects that were begun for a document and that no job will finish.
select e.tenant, e.key, replace(e.name, 'commit:', ''), e.job_id
from haulwright_effects e join haulwright_history h on h.id = e.job_id
where e.state = 'intent' and h.task = 'documents.fetch' and h.requeued_to is null
  and e.started_at < haulwright_now(:now) - :age_us
order by e.started_at limit :limit;

-- name: is_active
select 1 from haulwright_jobs where id = :job_id;

-- name: odd
-- Artefacts that no path leads to: the job succeeded and nothing came, there is none, or what came is not on record.
-- A key outlives its job: one whose job is gone from the history as well had failed, or was cancelled, and stays so.
select a.tenant, a.key,
       case when a.outcome is not null then 'not_on_record'
            when k.job_id is null then 'without_job' else 'without_outcome' end
from documents_artifacts a
left join haulwright_keys k
    on k.tenant = a.tenant and k.kind = 'job_key' and k.task = '' and k.key = coalesce(a.repair_key, a.key)
left join haulwright_jobs j on j.id = k.job_id
left join haulwright_history h on h.id = k.job_id
left join documents_files f on f.tenant = a.tenant and f.sha256 = a.sha256
where j.id is null and (
        (a.sha256 is not null and f.id is null)
     or (a.outcome is null and k.job_id is null)
     or (a.outcome is null and h.state in ('succeeded', 'skipped') and not exists (
            select 1 from haulwright_stages s
            where s.tenant = a.tenant and s.job_key = h.job_key
              and s.stage in ('INDEXED', 'DEDUPED', 'SKIPPED_DUPLICATE'))))
order by a.tenant, a.key limit :limit;

-- name: not_indexed
-- Files that documents point to and no search finds: the job that was to index them is over.
select distinct f.tenant, f.sha256
from documents_files f
join documents_artifacts d on d.tenant = f.tenant and d.sha256 = f.sha256 and d.outcome is not null
left join documents_artifacts a on a.tenant = f.tenant and a.key = f.key
left join haulwright_keys k
    on k.tenant = a.tenant and k.kind = 'job_key' and k.task = '' and k.key = coalesce(a.repair_key, a.key)
left join haulwright_jobs j on j.id = k.job_id
where f.indexed_at is null and f.missing_at is null and j.id is null
order by f.tenant, f.sha256 limit :limit;

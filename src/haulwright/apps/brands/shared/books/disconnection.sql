-- Taking a source out: a mark first, then its rows in batches, itself last.

-- name: mark
update brands_connections set removed_at = coalesce(removed_at, haulwright_now(:now))
where tenant = :tenant and id = :connection_id
returning id;

-- name: jobs
-- The jobs that work for a source.
select s.job_id from brands_compile_sources s
join haulwright_jobs j on j.id = s.job_id
where s.tenant = :tenant and s.connection_id = :connection_id
union
select r.job_id from brands_runs r
join haulwright_jobs j on j.id = r.job_id
where r.tenant = :tenant and r.connection_id = :connection_id;

-- name: under_way
-- Runs that are paid for, or may be, and may still go on.
select tenant, id, brand_id, connection_id, job_id, actor, input, input_hash, marked, taken_over, cap, status,
       actor_run_id, dataset_id, dataset_items, truncated, raw_item_count, normalized_created, normalized_updated,
       quarantined, usage_usd, error, error_class, requested_at, started_at, fetched_at, normalized_at, finished_at,
       polled_at, elapsed_us, wait_us
from brands_runs
where tenant = :tenant and connection_id = :connection_id and finished_at is null;

-- name: raw_items
delete from brands_raw_items where (tenant, run_id, item_index) in (
    select i.tenant, i.run_id, i.item_index from brands_raw_items i
    join brands_runs r on r.tenant = i.tenant and r.id = i.run_id
    where r.tenant = :tenant and r.connection_id = :connection_id limit :limit);

-- name: quarantine
delete from brands_quarantine where (tenant, run_id, item_index) in (
    select q.tenant, q.run_id, q.item_index from brands_quarantine q
    join brands_runs r on r.tenant = q.tenant and r.id = q.run_id
    where r.tenant = :tenant and r.connection_id = :connection_id limit :limit);

-- name: refs
delete from brands_evidence_refs where (tenant, evidence_id, run_id, item_index) in (
    select f.tenant, f.evidence_id, f.run_id, f.item_index from brands_evidence_refs f
    join brands_evidence e on e.tenant = f.tenant and e.id = f.evidence_id
    where e.tenant = :tenant and e.connection_id = :connection_id limit :limit);

-- name: evidence
delete from brands_evidence where (tenant, id) in (
    select tenant, id from brands_evidence where tenant = :tenant and connection_id = :connection_id limit :limit);

-- name: sources
delete from brands_compile_sources where (tenant, compile_run_id, connection_id) in (
    select tenant, compile_run_id, connection_id from brands_compile_sources
    where tenant = :tenant and connection_id = :connection_id limit :limit);

-- name: runs
delete from brands_runs where (tenant, id) in (
    select tenant, id from brands_runs where tenant = :tenant and connection_id = :connection_id limit :limit);

-- name: connection
delete from brands_connections where tenant = :tenant and id = :connection_id and removed_at is not null;

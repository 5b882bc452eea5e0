-- Artefacts on PostgreSQL.

-- name: plan
-- What is planned again keeps its key. Until it is there, a newer address is used, and what it is now said to be.
insert into documents_artifacts as a (
    tenant, key, work_id, artifact_id, canonical_url, shown_url, canon_version, url, name, title, expected_sha256,
    expected_bytes, expected_kind, manifest, planned_at, updated_at)
select :tenant, input.key, input.work_id, input.artifact_id, input.canonical_url, input.shown_url, :canon_version, input.url,
       input.name, input.title, input.expected_sha256, input.expected_bytes, input.expected_kind, :manifest,
       haulwright_now(:now::bigint), haulwright_now(:now::bigint)
from unnest(:key::text[], :work_id::text[], :artifact_id::text[], :canonical_url::text[], :shown_url::text[],
            :url::text[], :name::text[], :title::text[], :expected_sha256::text[], :expected_bytes::bigint[],
            :expected_kind::text[])
     as input (key, work_id, artifact_id, canonical_url, shown_url, url, name, title, expected_sha256, expected_bytes,
              expected_kind)
order by input.key
on conflict (tenant, key) do update
set url = excluded.url, expected_sha256 = coalesce(excluded.expected_sha256, a.expected_sha256),
    expected_bytes = coalesce(excluded.expected_bytes, a.expected_bytes),
    expected_kind = coalesce(excluded.expected_kind, a.expected_kind), updated_at = excluded.updated_at
where a.outcome is null and (
        excluded.url <> a.url
     or coalesce(excluded.expected_sha256, a.expected_sha256) is distinct from a.expected_sha256
     or coalesce(excluded.expected_bytes, a.expected_bytes) is distinct from a.expected_bytes
     or coalesce(excluded.expected_kind, a.expected_kind) is distinct from a.expected_kind);

-- name: list
-- In the words of the document, the newest first.
select job_id, work_id, artifact_id, canonical_url, state, lease_owner, attempts, error_code, error_message,
       idempotency_key, sha256, duplicate_of, to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
from haulwright_v_artifact_jobs
where tenant = :tenant and (:state::text is null or state = :state)
order by job_id desc limit :limit;

-- name: find
-- By the job, by the key, or by the address.
select job_id, work_id, artifact_id, canonical_url, state, lease_owner, attempts, error_code, error_message,
       idempotency_key, sha256, duplicate_of, to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
from haulwright_v_artifact_jobs
where tenant = :tenant and (job_id::text = :name or idempotency_key = :name or idempotency_key in (
        select key from documents_artifacts where tenant = :tenant and canonical_url = :name))
order by job_id desc limit 1;

-- name: under_way
-- Those of some artefacts that have not ended yet.
select idempotency_key, job_id, state from haulwright_v_artifact_jobs
where tenant = :tenant and idempotency_key = any(:keys::text[])
  and state not in ('INDEXED', 'DEDUPED', 'SKIPPED_DUPLICATE', 'FAILED')
  and (state <> 'FINALIZED' or job_id in (select id from haulwright_jobs));

-- name: known
-- Those of some artefacts that are planned.
select key from documents_artifacts where tenant = :tenant and key = any(:keys::text[]);

-- name: endings
-- How some artefacts stand, counted.
select state, count(*) from haulwright_v_artifact_jobs
where tenant = :tenant and idempotency_key = any(:keys::text[])
group by state order by state;

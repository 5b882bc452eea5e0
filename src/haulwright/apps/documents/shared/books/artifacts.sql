-- Artefacts.

-- name: get
select tenant, key, work_id, artifact_id, canonical_url, url, name, title, expected_sha256, expected_bytes,
       expected_kind, manifest, sha256, outcome, duplicate_of
from documents_artifacts where tenant = :tenant and key = :key;

-- name: end
update documents_artifacts
set sha256 = :sha256, outcome = :outcome, duplicate_of = :duplicate_of, updated_at = haulwright_now(:now)
where tenant = :tenant and key = :key;

-- name: repair
-- From now on another job is to bring it.
update documents_artifacts
set sha256 = null, outcome = null, duplicate_of = null, repair_key = :repair_key, updated_at = haulwright_now(:now)
where tenant = :tenant and key = :key;

-- name: reindexed
-- What a document is in the index changed; one that never came, or came with another content since, is left as it is.
update documents_artifacts set outcome = :outcome, duplicate_of = :duplicate_of, updated_at = haulwright_now(:now)
where tenant = :tenant and key = :key and sha256 = :sha256 and outcome in ('INDEXED', 'DEDUPED');

-- name: states
select state, count(*) from haulwright_v_artifact_jobs where tenant = :tenant group by state order by state;

-- name: tenants
select distinct tenant from documents_artifacts order by tenant limit :limit;

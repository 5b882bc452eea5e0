-- What the vocabulary of documents needs beside the statements of the engine.

-- name: last
-- For how long a lease is taken, where that is not what the job says.
update penstock_jobs set lease_us = :lease_us, lease_expires_at = leased_at + :lease_us
where id = :id and fence = :fence and state = 'running';

-- name: job
select job_id, work_id, artifact_id, canonical_url, state, idempotency_key, attempts, lease_owner, lease_until
from artifact_jobs where job_id = :job_id;

-- name: state
select state from artifact_jobs where job_id = :job_id;

-- name: end
update documents_artifacts set outcome = :outcome where tenant = :tenant and key = :key;

-- name: abandoned
select op_key from artifact_ops where state = 'abandoned' and started_at < datetime(:before, 'unixepoch');

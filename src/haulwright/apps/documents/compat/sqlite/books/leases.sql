-- What the vocabulary of documents needs beside the statements of the engine.

-- name: last
-- For how long a lease is taken, where that is not what the job says.
update haulwright_jobs set lease_us = :lease_us, lease_expires_at = leased_at + :lease_us
where id = :id and fence = :fence and worker_id = :worker_id and state = 'running';

-- name: job
-- The document that a job brings; its address whole, for whoever is to go there.
select v.job_id, v.work_id, v.artifact_id, a.canonical_url, v.state, v.idempotency_key, v.attempts, v.lease_owner,
       v.lease_until
from documents_artifacts a join haulwright_v_artifact_jobs v on v.tenant = a.tenant and v.idempotency_key = a.key
where a.tenant = :tenant and a.key = :key and v.job_id = :job_id;

-- name: state
select state from haulwright_v_artifact_jobs where job_id = :job_id;

-- name: end
update documents_artifacts set outcome = :outcome where tenant = :tenant and key = :key;

-- name: released
-- A document that was given back at its end; without one it has not ended.
select a.tenant, a.key, a.outcome
from documents_artifacts a join haulwright_v_artifact_jobs v on v.tenant = a.tenant and v.idempotency_key = a.key
where v.job_id = :job_id and a.outcome is not null;

-- name: index
-- What was filed is put into an index by whoever does that; no lease is needed for it, and it goes forward once.
update documents_artifacts set outcome = :outcome where tenant = :tenant and key = :key and outcome = 'FINALIZED';

-- name: begun
-- Operations that were begun and whose end nobody has told.
select key from haulwright_effects where tenant = :tenant and job_key = :job_key and state = 'intent';

-- name: large
-- Those of the ledger whose result does not stand in its row.
select key from haulwright_effects where tenant = :tenant and job_key = :job_key and stored = 'blob';

-- name: keep_large
update documents_operations set result = :result where tenant = :tenant and key = :key;

-- name: operation
select result from documents_operations where tenant = :tenant and key = :key;

-- name: abandoned
select op_key from haulwright_v_artifact_ops where state = 'abandoned' and started_at < datetime(:before, 'unixepoch');

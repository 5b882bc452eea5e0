-- Questions that a sound database answers with nothing. The same names as on PostgreSQL.

-- name: kind
select 'SQLite ' || sqlite_version() || ', journal ' || journal_mode from pragma_journal_mode;

-- name: encoding
select replace(encoding, 'UTF-', 'UTF') from pragma_encoding;

-- name: file
pragma quick_check(10);

-- name: open_transactions
-- A file does not tell who has it open.
select :now, :age_us, :limit where false;

-- name: leases
-- The table has a check of its own against this; a file that was written to by hand may still have it.
select count(*) from haulwright_jobs
where state = 'running'
  and (worker_id is null or leased_at is null or heartbeat_at is null or lease_expires_at is null or fence < 1);

-- name: twice
select count(*) from haulwright_jobs j join haulwright_history h on h.id = j.id;

-- name: permits
select count(*) from haulwright_permits p
where not exists (
    select 1 from haulwright_jobs j where j.id = p.job_id and j.fence = p.fence and j.worker_id = p.worker_id and j.state = 'running');

-- name: slots
-- A slot that makes a job names it from its first moment; the job itself may have been pruned since.
select count(*) from haulwright_slots
where disposition in ('fired', 'backfilled', 'manual') and job_id is null;

-- name: blobs
select count(*) from haulwright_effects e
where e.stored = 'blob'
  and not exists (select 1 from haulwright_blobs b where b.tenant = e.tenant and b.key = e.key);

-- name: payloads
select (select count(*) from haulwright_jobs j
        where j.payload_bytes is not null and not exists (select 1 from haulwright_payloads p where p.job_id = j.id))
     + (select count(*) from haulwright_history h
        where h.payload_bytes is not null and not exists (select 1 from haulwright_payloads p where p.job_id = h.id));

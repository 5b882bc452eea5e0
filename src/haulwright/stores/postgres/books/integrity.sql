-- Questions that a sound database answers with nothing. The same names as on SQLite.

-- name: kind
select 'PostgreSQL ' || current_setting('server_version') || ', encoding ' || current_setting('server_encoding');

-- name: encoding
select current_setting('server_encoding');

-- name: file
-- The server checks its pages when it reads them.
select 'ok';

-- name: open_transactions
-- Transactions that are open for longer than an age, the oldest first: who, for how long, and whether they wrote events.
-- Of other users only the age of prepared ones is told, unless this one may read all statistics.
select case when a.pid is null then 'the prepared transaction ' || a.gid
            else 'process ' || a.pid || coalesce(' of ' || nullif(a.application_name, ''), '') end,
       haulwright_now(:now::bigint) - (extract(epoch from a.since) * 1000000)::bigint,
       exists (select 1 from pg_locks l
               where l.locktype = 'relation' and l.relation = 'haulwright_events'::regclass and l.granted
                 and l.mode = 'RowExclusiveLock'
                 and (l.pid = a.pid or l.virtualtransaction in (
                     select t.virtualtransaction from pg_locks t
                     where t.locktype = 'transactionid' and t.pid is null and t.transactionid::text = a.xid)))
from (select pid, null as gid, application_name, xact_start as since, null as xid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      union all
      select null, gid, null, prepared, transaction::text from pg_prepared_xacts where database = current_database()) a
where a.since < to_timestamp((haulwright_now(:now::bigint) - :age_us::bigint) / 1e6)
order by a.since limit :limit;

-- name: leases
-- The table has a check of its own against this; one that was dropped by hand would let it happen.
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

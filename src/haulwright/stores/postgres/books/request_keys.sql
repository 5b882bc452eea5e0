-- Requests that carried an Idempotency-Key, on PostgreSQL.

-- name: lock
-- Whoever else came with the same key waits for the end of this transaction.
select pg_advisory_xact_lock(hashtextextended(:tenant || '/' || :key, 7361200815));

-- name: find
select fingerprint, status, body, headers from haulwright_request_keys where tenant = :tenant and key = :key;

-- name: keep
insert into haulwright_request_keys (tenant, key, fingerprint, status, body, headers, created_at)
values (:tenant, :key, :fingerprint, :status::bigint, :body, :headers, haulwright_now(:now::bigint));

-- name: prune
delete from haulwright_request_keys where (tenant, key) in (
    select tenant, key from haulwright_request_keys
    where created_at < (select haulwright_now(:now::bigint)) - :kept_us::bigint
    order by created_at limit :limit for update skip locked)
returning key;

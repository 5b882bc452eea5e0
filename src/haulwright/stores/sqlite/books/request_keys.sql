-- Requests that carried an Idempotency-Key, on SQLite.

-- name: lock
-- Whoever else came with the same key waits for the end of this transaction: on SQLite there is one writer.
select :tenant, :key;

-- name: find
select fingerprint, status, body, headers from haulwright_request_keys where tenant = :tenant and key = :key;

-- name: keep
insert into haulwright_request_keys (tenant, key, fingerprint, status, body, headers, created_at)
values (:tenant, :key, :fingerprint, :status, :body, :headers, :now);

-- name: prune
delete from haulwright_request_keys where (tenant, key) in (
    select tenant, key from haulwright_request_keys where created_at < :now - :kept_us order by created_at limit :limit)
returning key;

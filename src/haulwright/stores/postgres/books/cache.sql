-- Answers that were kept, on PostgreSQL.

-- name: load
select status, head, body, requested_at, answered_at, fresh_until, keep_until from haulwright_cache
where key = :key and keep_until > haulwright_now(:now::bigint);

-- name: kept
select key from haulwright_cache where key = any(:key::text[]) and keep_until > haulwright_now(:now::bigint);

-- name: save
insert into haulwright_cache (
    key, source, status, head, body, size, requested_at, answered_at, fresh_until, keep_until)
values (:key, :source, :status::bigint, :head, :body::bytea, :size::bigint, :requested_at::bigint, :answered_at::bigint, :fresh_until::bigint, :keep_until::bigint)
on conflict (key) do update
set source = excluded.source, status = excluded.status, head = excluded.head, body = excluded.body, size = excluded.size,
    requested_at = excluded.requested_at, answered_at = excluded.answered_at, fresh_until = excluded.fresh_until,
    keep_until = excluded.keep_until;

-- name: take_renewal
-- Of all who found an answer stale one renews it: whoever finds it as it was read, and marks it until it is over.
update haulwright_cache set fresh_until = :until::bigint where key = :key and fresh_until = :fresh_until::bigint
returning key;

-- name: forget
delete from haulwright_cache where key = :key;

-- name: prune
-- What nobody needs any more.
delete from haulwright_cache where key = any(array(
    select key from haulwright_cache where keep_until <= haulwright_now(:now::bigint)
    order by keep_until limit :limit for update skip locked))
returning key;

-- name: trim
-- What is over the room for all answers together goes by its end, the soonest first.
delete from haulwright_cache where key = any(array(
    select key from haulwright_cache order by keep_until limit :limit for update skip locked))
    and (select coalesce(sum(size), 0) from haulwright_cache) > :room_bytes::bigint
returning key;

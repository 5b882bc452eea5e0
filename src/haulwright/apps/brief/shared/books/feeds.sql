-- Feeds.

-- name: add
-- Nothing comes back where the tenant has this address already.
insert into brief_feeds (tenant, id, url, name, weight, enabled, due_at, created_at, updated_at)
values (:tenant, :id, :url, :name, :weight, :enabled, haulwright_now(:now), haulwright_now(:now), haulwright_now(:now))
on conflict do nothing
returning id;

-- name: get
select tenant, id, url, name, weight, enabled, due_at, etag, last_modified, body_hash, format, warnings, checked_at,
       changed_at, failures, last_error, last_failed_at
from brief_feeds where tenant = :tenant and id = :id;

-- name: list
-- A page of feeds after a place, of one tenant or of all.
select tenant, id, url, name, weight, enabled, due_at, etag, last_modified, body_hash, format, warnings, checked_at,
       changed_at, failures, last_error, last_failed_at
from brief_feeds
where (cast(:tenant as text) is null or tenant = :tenant) and (tenant, id) > (:after_tenant, :after_id)
order by tenant, id limit :limit;

-- name: due
-- A page of the feeds that may be asked now, after a place; `due_only` leaves those out that want to be left alone.
select tenant, id from brief_feeds
where enabled and (cast(:tenant as text) is null or tenant = :tenant)
  and (due_at <= haulwright_now(:now) or not :due_only) and (tenant, id) > (:after_tenant, :after_id)
order by tenant, id limit :limit;

-- name: change
update brief_feeds
set name = coalesce(:name, name), weight = coalesce(:weight, weight), enabled = coalesce(:enabled, enabled),
    due_at = haulwright_now(:now), updated_at = haulwright_now(:now)
where tenant = :tenant and id = :id
returning id;

-- name: remove
delete from brief_feeds where tenant = :tenant and id = :id
returning url;

-- name: answered
-- The server answered, and all that it said is written. A body that is as before leaves what is known of it.
update brief_feeds
set checked_at = haulwright_now(:now), due_at = haulwright_now(:now) + coalesce(:rest_us, rest_us),
    failures = 0, last_error = null, updated_at = haulwright_now(:now),
    changed_at = case when cast(:body_hash as text) is null then changed_at else haulwright_now(:now) end,
    etag = case when cast(:body_hash as text) is null then etag else :etag end,
    last_modified = case when cast(:body_hash as text) is null then last_modified else :last_modified end,
    format = coalesce(:format, format), warnings = coalesce(:warnings, warnings),
    body_hash = coalesce(:body_hash, body_hash), rest_us = coalesce(:rest_us, rest_us)
where tenant = :tenant and id = :id;

-- name: tenants
select distinct tenant from brief_feeds where tenant > :after order by tenant limit :limit;

-- Feeds on SQLite.

-- name: add
-- Nothing comes back where the tenant has this address already.
insert into brief_feeds (tenant, id, url, name, weight, enabled, due_at, created_at, updated_at)
values (:tenant, :id, :url, :name, :weight, :enabled, :now, :now, :now)
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
where (:tenant is null or tenant = :tenant) and (tenant, id) > (:after_tenant, :after_id)
order by tenant, id limit :limit;

-- name: due
-- A page of the feeds that may be asked now, after a place; `due_only` leaves those out that want to be left alone.
select tenant, id from brief_feeds
where enabled and (:tenant is null or tenant = :tenant) and (due_at <= :now or not :due_only)
  and (tenant, id) > (:after_tenant, :after_id)
order by tenant, id limit :limit;

-- name: change
update brief_feeds
set name = coalesce(:name, name), weight = coalesce(:weight, weight), enabled = coalesce(:enabled, enabled),
    due_at = :now, updated_at = :now
where tenant = :tenant and id = :id
returning id;

-- name: answered
-- The server answered, and all that it said is written. A body that is as before leaves what is known of it.
update brief_feeds
set checked_at = :now, due_at = :now + coalesce(:rest_us, rest_us), failures = 0, last_error = null, updated_at = :now,
    changed_at = case when :body_hash is null then changed_at else :now end,
    etag = case when :body_hash is null then etag else :etag end,
    last_modified = case when :body_hash is null then last_modified else :last_modified end,
    format = coalesce(:format, format), warnings = coalesce(:warnings, warnings),
    body_hash = coalesce(:body_hash, body_hash), rest_us = coalesce(:rest_us, rest_us)
where tenant = :tenant and id = :id;

-- name: failed
-- The longer it goes on, the longer it is left alone.
update brief_feeds
set failures = failures + 1, last_error = :error, last_failed_at = :now, updated_at = :now,
    due_at = :now + min(:least_us * (1 << min(failures, 20)), :most_us)
where tenant = :tenant and id = :id
returning failures;

-- name: tenants
select distinct tenant from brief_feeds where tenant > :after order by tenant limit :limit;

-- Feeds on PostgreSQL.

-- name: add
-- Nothing comes back where the tenant has this address already.
insert into brief_feeds (tenant, id, url, name, weight, enabled, due_at, created_at, updated_at)
values (:tenant, :id, :url, :name, :weight::float8, :enabled::bool, haulwright_now(:now::bigint),
        haulwright_now(:now::bigint), haulwright_now(:now::bigint))
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
where (:tenant::text is null or tenant = :tenant) and (tenant, id) > (:after_tenant, :after_id)
order by tenant, id limit :limit;

-- name: due
-- A page of the feeds that may be asked now, after a place; `due_only` leaves those out that want to be left alone.
select tenant, id from brief_feeds
where enabled and (:tenant::text is null or tenant = :tenant)
  and (due_at <= haulwright_now(:now::bigint) or not :due_only::bool) and (tenant, id) > (:after_tenant, :after_id)
order by tenant, id limit :limit;

-- name: change
update brief_feeds
set name = coalesce(:name::text, name), weight = coalesce(:weight::float8, weight),
    enabled = coalesce(:enabled::bool, enabled), due_at = haulwright_now(:now::bigint),
    updated_at = haulwright_now(:now::bigint)
where tenant = :tenant and id = :id
returning id;

-- name: answered
-- The server answered, and all that it said is written. A body that is as before leaves what is known of it.
update brief_feeds
set checked_at = haulwright_now(:now::bigint), due_at = haulwright_now(:now::bigint) + coalesce(:rest_us::bigint, rest_us),
    failures = 0, last_error = null, updated_at = haulwright_now(:now::bigint),
    changed_at = case when :body_hash::text is null then changed_at else haulwright_now(:now::bigint) end,
    etag = case when :body_hash::text is null then etag else :etag::text end,
    last_modified = case when :body_hash::text is null then last_modified else :last_modified::text end,
    format = coalesce(:format::text, format), warnings = coalesce(:warnings::text, warnings),
    body_hash = coalesce(:body_hash::text, body_hash), rest_us = coalesce(:rest_us::bigint, rest_us)
where tenant = :tenant and id = :id;

-- name: failed
-- The longer it goes on, the longer it is left alone.
update brief_feeds
set failures = failures + 1, last_error = :error, last_failed_at = haulwright_now(:now::bigint),
    updated_at = haulwright_now(:now::bigint),
    due_at = haulwright_now(:now::bigint) + least(:least_us::bigint * (1 << least(failures, 20)), :most_us::bigint)
where tenant = :tenant and id = :id
returning failures;

-- name: tenants
select distinct tenant from brief_feeds where tenant > :after order by tenant limit :limit;

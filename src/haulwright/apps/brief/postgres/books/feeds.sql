-- Feeds on PostgreSQL.

-- name: failed
-- The longer it goes on, the longer it is left alone.
update brief_feeds
set failures = failures + 1, last_error = :error, last_failed_at = haulwright_now(:now::bigint),
    updated_at = haulwright_now(:now::bigint),
    due_at = haulwright_now(:now::bigint) + least(:least_us::bigint * (1 << least(failures, 20)), :most_us::bigint)
where tenant = :tenant and id = :id
returning failures;

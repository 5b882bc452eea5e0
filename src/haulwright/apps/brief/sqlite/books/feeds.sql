-- Feeds on SQLite.

-- name: failed
-- The longer it goes on, the longer it is left alone.
update brief_feeds
set failures = failures + 1, last_error = :error, last_failed_at = :now, updated_at = :now,
    due_at = :now + min(:least_us * (1 << min(failures, 20)), :most_us)
where tenant = :tenant and id = :id
returning failures;

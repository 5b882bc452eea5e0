-- Configured sources.

-- name: enable
update prices_sources set enabled = :enabled, revision = revision + 1, updated_at = haulwright_now(:now)
where tenant = :tenant and source_id = :source_id
returning revision;

-- name: get
select tenant, source_id, name, rules, enabled, revision
from prices_sources where tenant = :tenant and source_id = :source_id;

-- name: list
select tenant, source_id, name, rules, enabled, revision
from prices_sources where cast(:tenant as text) is null or tenant = :tenant
order by tenant, name limit :limit;

-- name: health
-- The sources of a tenant as the document's view has them.
select id, tenant, name, enabled, rate_limit_per_minute, failure_streak, last_success_at, last_failure_at, paused_until
from haulwright_v_sources where cast(:tenant as text) is null or tenant = :tenant
order by tenant, name limit :limit;

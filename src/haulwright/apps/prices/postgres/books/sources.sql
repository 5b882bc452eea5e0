-- Configured sources on PostgreSQL.

-- name: put
-- Add a source, or give it other rules. Nothing comes back where it is as it was told.
insert into prices_sources as s (tenant, source_id, name, rules, enabled, created_at, updated_at)
values (:tenant, :source_id, :name, :rules, true, haulwright_now(:now::bigint), haulwright_now(:now::bigint))
on conflict (tenant, source_id) do update
set rules = excluded.rules, revision = s.revision + 1, updated_at = excluded.updated_at
where s.rules <> excluded.rules
returning revision;

-- name: enable
update prices_sources
set enabled = :enabled::bool, revision = revision + 1, updated_at = haulwright_now(:now::bigint)
where tenant = :tenant and source_id = :source_id
returning revision;

-- name: get
select tenant, source_id, name, rules, enabled, revision
from prices_sources where tenant = :tenant and source_id = :source_id;

-- name: list
select tenant, source_id, name, rules, enabled, revision
from prices_sources where :tenant::text is null or tenant = :tenant
order by tenant, name limit :limit;

-- name: health
-- The sources of a tenant as the document's view has them.
select id, tenant, name, enabled, rate_limit_per_minute, failure_streak, last_success_at, last_failure_at, paused_until
from sources where :tenant::text is null or tenant = :tenant
order by tenant, name limit :limit;

-- Configured sources on PostgreSQL.

-- name: put
-- Add a source, or give it other rules. Nothing comes back where it is as it was told.
insert into prices_sources as s (tenant, source_id, name, rules, enabled, created_at, updated_at)
values (:tenant, :source_id, :name, :rules, true, haulwright_now(:now::bigint), haulwright_now(:now::bigint))
on conflict (tenant, source_id) do update
set rules = excluded.rules, revision = s.revision + 1, updated_at = excluded.updated_at
where s.rules <> excluded.rules
returning revision;

-- Tenants and their plans on SQLite.

-- name: refit
-- The connections of a tenant keep to its new plan; what was asked for is remembered.
update syncs_connections
set interval_us = case when :is_fixed then :floor_us else max(coalesce(cadence_us, :floor_us), :floor_us) end,
    due_at = coalesce(triggered_at
        + case when :is_fixed then :floor_us else max(coalesce(cadence_us, :floor_us), :floor_us) end, due_at),
    updated_at = :now
where tenant = :tenant
returning connector_id;

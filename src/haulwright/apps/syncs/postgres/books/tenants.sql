-- Tenants and their plans on PostgreSQL.

-- name: refit
-- The connections of a tenant keep to its new plan; what was asked for is remembered.
update syncs_connections
set interval_us = case when :is_fixed::bool then :floor_us::bigint
                       else greatest(coalesce(cadence_us, :floor_us::bigint), :floor_us::bigint) end,
    due_at = coalesce(triggered_at
        + case when :is_fixed::bool then :floor_us::bigint
               else greatest(coalesce(cadence_us, :floor_us::bigint), :floor_us::bigint) end, due_at),
    updated_at = haulwright_now(:now::bigint)
where tenant = :tenant
returning connector_id;

-- Tenants and their plans on PostgreSQL.

-- name: plan_of
select plan from syncs_tenants where tenant = :tenant;

-- name: set_plan
insert into syncs_tenants (tenant, plan, created_at, updated_at)
values (:tenant, :plan, haulwright_now(:now::bigint), haulwright_now(:now::bigint))
on conflict (tenant) do update set plan = excluded.plan, updated_at = excluded.updated_at;

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

-- Tenants and their plans on SQLite.

-- name: plan_of
select plan from syncs_tenants where tenant = :tenant;

-- name: set_plan
insert into syncs_tenants (tenant, plan, created_at, updated_at) values (:tenant, :plan, :now, :now)
on conflict (tenant) do update set plan = excluded.plan, updated_at = excluded.updated_at;

-- name: refit
-- The connections of a tenant keep to its new plan; what was asked for is remembered.
update syncs_connections
set interval_us = case when :is_fixed then :floor_us else max(coalesce(cadence_us, :floor_us), :floor_us) end,
    due_at = coalesce(triggered_at
        + case when :is_fixed then :floor_us else max(coalesce(cadence_us, :floor_us), :floor_us) end, due_at),
    updated_at = :now
where tenant = :tenant
returning connector_id;

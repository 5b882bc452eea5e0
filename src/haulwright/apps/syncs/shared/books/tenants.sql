-- Tenants and their plans.

-- name: plan_of
select plan from syncs_tenants where tenant = :tenant;

-- name: set_plan
insert into syncs_tenants (tenant, plan, created_at, updated_at)
values (:tenant, :plan, haulwright_now(:now), haulwright_now(:now))
on conflict (tenant) do update set plan = excluded.plan, updated_at = excluded.updated_at;

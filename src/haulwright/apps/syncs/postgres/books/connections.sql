-- Connections on PostgreSQL.

-- name: add
-- Nothing comes back where the tenant has one of this name, or somebody has this connection of Airbyte.
insert into syncs_connections (
    tenant, connector_id, airbyte_id, workspace_id, external_account_id, credential, cadence_us, interval_us, enabled,
    due_at, created_at, updated_at)
values (
    :tenant, :connector_id, :airbyte_id, :workspace_id, :external_account_id, :credential, :cadence_us::bigint,
    :interval_us::bigint, :enabled::bool, haulwright_now(:now::bigint), haulwright_now(:now::bigint),
    haulwright_now(:now::bigint))
on conflict do nothing
returning connector_id;

-- name: get
select tenant, connector_id, airbyte_id, workspace_id, external_account_id, credential, cadence_us, interval_us,
       enabled, due_at, triggered_at, synced_at, last_run_id
from syncs_connections where tenant = :tenant and connector_id = :connector_id;

-- name: list
-- A page of connections after a place, of one tenant or of all.
select tenant, connector_id, airbyte_id, workspace_id, external_account_id, credential, cadence_us, interval_us,
       enabled, due_at, triggered_at, synced_at, last_run_id
from syncs_connections
where (:tenant::text is null or tenant = :tenant) and (tenant, connector_id) > (:after_tenant, :after_connector)
order by tenant, connector_id limit :limit;

-- name: enable
update syncs_connections set enabled = :enabled::bool, updated_at = haulwright_now(:now::bigint)
where tenant = :tenant and connector_id = :connector_id
returning connector_id;

-- name: foreign_credential
-- Whether another tenant has a connection with this credential.
select 1 from syncs_connections where credential = :credential and tenant <> :tenant limit 1;

-- name: due
-- Connections whose time has come and that no active sync stands for, the longest due first.
select c.tenant, c.connector_id, c.external_account_id
from syncs_connections c
where c.enabled and c.due_at <= haulwright_now(:now::bigint)
  and not exists (select 1 from haulwright_jobs j where j.tenant = c.tenant and j.task = :task
                  and j.unique_key = c.connector_id and j.unique_scope = 'while_active')
order by c.due_at, c.tenant, c.connector_id limit :limit
for update of c skip locked;

-- name: dispatched
-- The next sync is due one interval after this one was, if that was just now; else one interval after this minute,
-- for slots are opened by the minute. So the cadence neither drifts nor catches up.
update syncs_connections c
set due_at = c.interval_us + case when haulwright_now(:now::bigint) - c.due_at between 0 and :late_us::bigint then c.due_at
                                  else haulwright_now(:now::bigint) - mod(haulwright_now(:now::bigint), 60000000) end,
    updated_at = haulwright_now(:now::bigint)
from unnest(:tenant::text[], :connector_id::text[]) as input (tenant, connector_id)
where c.tenant = input.tenant and c.connector_id = input.connector_id;

-- name: triggered
update syncs_connections
set triggered_at = haulwright_now(:now::bigint), last_run_id = greatest(coalesce(last_run_id, 0), :run_id::bigint),
    updated_at = haulwright_now(:now::bigint)
where tenant = :tenant and connector_id = :connector_id;

-- name: synced
update syncs_connections set synced_at = haulwright_now(:now::bigint), updated_at = haulwright_now(:now::bigint)
where tenant = :tenant and connector_id = :connector_id;

-- name: active
-- The sync of a connection that is not finished.
select id from haulwright_jobs
where tenant = :tenant and task = :task and unique_key = :connector_id and unique_scope = 'while_active';

-- name: remove
delete from syncs_connections where tenant = :tenant and connector_id = :connector_id
returning external_account_id;

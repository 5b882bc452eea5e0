-- Connections.

-- name: add
-- Nothing comes back where the tenant has one of this name, or somebody has this connection of Airbyte.
insert into syncs_connections (
    tenant, connector_id, airbyte_id, workspace_id, external_account_id, credential, cadence_us, interval_us, enabled,
    due_at, created_at, updated_at)
values (
    :tenant, :connector_id, :airbyte_id, :workspace_id, :external_account_id, :credential, :cadence_us, :interval_us,
    :enabled, haulwright_now(:now), haulwright_now(:now), haulwright_now(:now))
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
where (cast(:tenant as text) is null or tenant = :tenant) and (tenant, connector_id) > (:after_tenant, :after_connector)
order by tenant, connector_id limit :limit;

-- name: enable
update syncs_connections set enabled = :enabled, updated_at = haulwright_now(:now)
where tenant = :tenant and connector_id = :connector_id
returning connector_id;

-- name: foreign_credential
-- Whether another tenant has a connection with this credential.
select 1 from syncs_connections where credential = :credential and tenant <> :tenant limit 1;

-- name: synced
update syncs_connections set synced_at = haulwright_now(:now), updated_at = haulwright_now(:now)
where tenant = :tenant and connector_id = :connector_id;

-- name: active
-- The sync of a connection that is not finished.
select id from haulwright_jobs
where tenant = :tenant and task = :task and unique_key = :connector_id and unique_scope = 'while_active';

-- name: remove
delete from syncs_connections where tenant = :tenant and connector_id = :connector_id
returning external_account_id;

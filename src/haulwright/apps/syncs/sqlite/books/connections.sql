-- Connections on SQLite.

-- name: due
-- Connections whose time has come and that no active sync stands for, the longest due first.
select c.tenant, c.connector_id, c.external_account_id
from syncs_connections c
where c.enabled and c.due_at <= :now
  and not exists (select 1 from haulwright_jobs j where j.tenant = c.tenant and j.task = :task
                  and j.unique_key = c.connector_id and j.unique_scope = 'while_active')
order by c.due_at, c.tenant, c.connector_id limit :limit;

-- name: dispatched
-- The next sync is due one interval after this one was, if that was just now; else one interval after this minute,
-- for slots are opened by the minute. So the cadence neither drifts nor catches up.
update syncs_connections
set due_at = interval_us + case when :now - due_at between 0 and :late_us then due_at else :now - :now % 60000000 end,
    updated_at = :now
where (tenant, connector_id) in (select tenant, connector_id from input);

-- name: triggered
update syncs_connections
set triggered_at = :now, last_run_id = max(coalesce(last_run_id, 0), :run_id), updated_at = :now
where tenant = :tenant and connector_id = :connector_id;

-- Connections on PostgreSQL.

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

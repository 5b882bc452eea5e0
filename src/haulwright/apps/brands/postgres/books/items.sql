-- Raw items of runs, and those that cannot be used, on PostgreSQL.

-- name: clear
delete from brands_raw_items where tenant = :tenant and run_id = :run_id::uuid;

-- name: store
insert into brands_raw_items (tenant, run_id, item_index, bytes, body)
select :tenant, :run_id::uuid, input.item_index, input.bytes, input.body
from unnest(:item_index::int[], :bytes::int[], :body::text[]) as input (item_index, bytes, body);

-- name: of_run
select item_index, bytes, body from brands_raw_items
where tenant = :tenant and run_id = :run_id::uuid
order by item_index limit :limit;

-- name: release
delete from brands_quarantine where tenant = :tenant and run_id = :run_id::uuid;

-- name: quarantine
insert into brands_quarantine (tenant, run_id, item_index, reason, detail, created_at)
select :tenant, :run_id::uuid, input.item_index, input.reason, input.detail, haulwright_now(:now::bigint)
from unnest(:item_index::int[], :reason::text[], :detail::text[]) as input (item_index, reason, detail);

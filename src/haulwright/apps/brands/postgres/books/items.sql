-- Raw items of runs, and those that cannot be used, on PostgreSQL.

-- name: store
insert into brands_raw_items (tenant, run_id, item_index, bytes, body)
select :tenant, :run_id::uuid, input.item_index, input.bytes, input.body
from unnest(:item_index::int[], :bytes::int[], :body::text[]) as input (item_index, bytes, body);

-- name: quarantine
insert into brands_quarantine (tenant, run_id, item_index, reason, detail, created_at)
select :tenant, :run_id::uuid, input.item_index, input.reason, input.detail, haulwright_now(:now::bigint)
from unnest(:item_index::int[], :reason::text[], :detail::text[]) as input (item_index, reason, detail);

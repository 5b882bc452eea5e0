-- Raw items of runs, and those that cannot be used, on SQLite.

-- name: store
insert into brands_raw_items (tenant, run_id, item_index, bytes, body)
select :tenant, :run_id, input.item_index, input.bytes, input.body from input;

-- name: quarantine
insert into brands_quarantine (tenant, run_id, item_index, reason, detail, created_at)
select :tenant, :run_id, input.item_index, input.reason, input.detail, :now from input;

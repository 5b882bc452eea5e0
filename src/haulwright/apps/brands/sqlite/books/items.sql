-- Raw items of runs, and those that cannot be used, on SQLite.

-- name: clear
delete from brands_raw_items where tenant = :tenant and run_id = :run_id;

-- name: store
insert into brands_raw_items (tenant, run_id, item_index, bytes, body)
select :tenant, :run_id, input.item_index, input.bytes, input.body from input;

-- name: of_run
select item_index, bytes, body from brands_raw_items
where tenant = :tenant and run_id = :run_id
order by item_index limit :limit;

-- name: release
delete from brands_quarantine where tenant = :tenant and run_id = :run_id;

-- name: quarantine
insert into brands_quarantine (tenant, run_id, item_index, reason, detail, created_at)
select :tenant, :run_id, input.item_index, input.reason, input.detail, :now from input;

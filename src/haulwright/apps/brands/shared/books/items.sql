-- Raw items of runs, and those that cannot be used.

-- name: clear
delete from brands_raw_items where tenant = :tenant and run_id = :run_id;

-- name: of_run
select item_index, bytes, body from brands_raw_items
where tenant = :tenant and run_id = :run_id
order by item_index limit :limit;

-- name: release
delete from brands_quarantine where tenant = :tenant and run_id = :run_id;

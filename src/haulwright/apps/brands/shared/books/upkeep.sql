-- Runs that nobody looks after, and raw items that nobody needs any more.

-- name: prune
delete from brands_raw_items where tenant = :tenant and run_id = :run_id
returning item_index;

-- name: pruned
update brands_runs set pruned_at = haulwright_now(:now) where tenant = :tenant and id = :run_id;

-- name: count_prunable
-- How many runs and raw items would go now.
select count(distinct r.id), count(i.item_index) from brands_runs r
left join brands_raw_items i on i.tenant = r.tenant and i.run_id = r.id
where r.finished_at < haulwright_now(:now) - :age_us and r.pruned_at is null;

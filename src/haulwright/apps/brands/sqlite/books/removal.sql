-- Taking a brand out, on SQLite: a mark first, then its rows in batches, itself last.

-- name: raw_items
delete from brands_raw_items where rowid in (
    select i.rowid from brands_raw_items i
    join brands_runs r on r.tenant = i.tenant and r.id = i.run_id
    where r.tenant = :tenant and r.brand_id = :brand_id limit :limit);

-- name: evidence
delete from brands_evidence where rowid in (
    select rowid from brands_evidence where tenant = :tenant and brand_id = :brand_id limit :limit);

-- name: snapshots
delete from brands_snapshots where rowid in (
    select rowid from brands_snapshots where tenant = :tenant and brand_id = :brand_id limit :limit);

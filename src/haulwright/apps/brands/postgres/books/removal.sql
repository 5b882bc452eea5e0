-- Taking a brand out, on PostgreSQL: a mark first, then its rows in batches, itself last.

-- name: raw_items
delete from brands_raw_items where ctid = any (array(
    select i.ctid from brands_raw_items i
    join brands_runs r on r.tenant = i.tenant and r.id = i.run_id
    where r.tenant = :tenant and r.brand_id = :brand_id::uuid limit :limit));

-- name: evidence
delete from brands_evidence where ctid = any (array(
    select ctid from brands_evidence where tenant = :tenant and brand_id = :brand_id::uuid limit :limit));

-- name: snapshots
delete from brands_snapshots where ctid = any (array(
    select ctid from brands_snapshots where tenant = :tenant and brand_id = :brand_id::uuid limit :limit));

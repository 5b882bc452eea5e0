-- Snapshots.

-- name: save
-- The next of its brand; one a compile, whoever tries again.
insert into brands_snapshots (
    tenant, id, brand_id, compile_run_id, number, compiler, bundle, features, document, created_at)
select :tenant, :id, :brand_id, :compile_run_id, coalesce(max(number), 0) + 1, :compiler, :bundle, :features,
       :document, haulwright_now(:now)
from brands_snapshots where tenant = :tenant and brand_id = :brand_id
returning number;

-- name: get
select number, document from brands_snapshots
where tenant = :tenant and brand_id = :brand_id and number = :number;

-- name: newest
select number, document from brands_snapshots
where tenant = :tenant and brand_id = :brand_id
order by number desc limit 1;

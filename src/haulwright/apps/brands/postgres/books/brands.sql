-- Brands on PostgreSQL.

-- name: hold
-- One transaction at a time writes for a brand, and none where it is being removed: then nothing comes back.
select id from brands_brands where tenant = :tenant and id = :id::uuid and removed_at is null for no key update;

-- Brands on SQLite.

-- name: hold
-- One transaction at a time writes for a brand, and none where it is being removed: then nothing comes back.
select id from brands_brands where tenant = :tenant and id = :id and removed_at is null;

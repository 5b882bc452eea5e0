-- Brands on SQLite.

-- name: add
insert into brands_brands (tenant, id, name, answers, created_at, updated_at)
values (:tenant, :id, :name, :answers, :now, :now)
returning tenant, id, name, answers, created_at;

-- name: get
select tenant, id, name, answers, created_at from brands_brands
where tenant = :tenant and id = :id and removed_at is null;

-- name: list
select tenant, id, name, answers, created_at from brands_brands
where tenant = :tenant and removed_at is null
order by id limit :limit;

-- name: hold
-- One transaction at a time writes for a brand, and none where it is being removed: then nothing comes back.
select id from brands_brands where tenant = :tenant and id = :id and removed_at is null;

-- name: now
select :now;

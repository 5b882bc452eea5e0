-- Brands.

-- name: add
insert into brands_brands (tenant, id, name, answers, created_at, updated_at)
values (:tenant, :id, :name, :answers, haulwright_now(:now), haulwright_now(:now))
returning tenant, id, name, answers, created_at;

-- name: get
select tenant, id, name, answers, created_at from brands_brands
where tenant = :tenant and id = :id and removed_at is null;

-- name: update
update brands_brands set name = :name, answers = :answers, updated_at = haulwright_now(:now)
where tenant = :tenant and id = :id and removed_at is null
returning tenant, id, name, answers, created_at;

-- name: list
select tenant, id, name, answers, created_at from brands_brands
where tenant = :tenant and removed_at is null and id > :after
order by id limit :limit;

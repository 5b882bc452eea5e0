-- Connections of brands to their sources.

-- name: connect
-- The same source of a brand is connected once; saying it again changes what may be changed.
insert into brands_connections (
    tenant, id, brand_id, platform, capability, identifier, settings, enabled, created_at, updated_at)
values (:tenant, :id, :brand_id, :platform, :capability, :identifier, :settings, :enabled,
        haulwright_now(:now), haulwright_now(:now))
on conflict (tenant, brand_id, platform, capability, identifier) do update
    set settings = excluded.settings, enabled = excluded.enabled, updated_at = excluded.updated_at
    where brands_connections.removed_at is null
returning tenant, id, brand_id, platform, capability, identifier, settings, enabled;

-- name: get
select c.tenant, c.id, c.brand_id, c.platform, c.capability, c.identifier, c.settings, c.enabled
from brands_connections c
join brands_brands b on b.tenant = c.tenant and b.id = c.brand_id and b.removed_at is null
where c.tenant = :tenant and c.id = :id and c.removed_at is null;

-- name: of_brand
select tenant, id, brand_id, platform, capability, identifier, settings, enabled
from brands_connections
where tenant = :tenant and brand_id = :brand_id and removed_at is null
order by platform, capability, identifier limit :limit;

-- name: hold
-- Nobody writes for a source that is being removed: then nothing comes back.
select id from brands_connections where tenant = :tenant and id = :id and removed_at is null;

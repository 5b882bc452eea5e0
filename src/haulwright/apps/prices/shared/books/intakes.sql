-- Intakes.

-- name: add
-- Nothing comes back where the tenant has one of this name.
insert into prices_intakes (
    tenant, intake_id, year, mintmark, denomination, series, title, attributes, currency, created_at)
values (:tenant, :intake_id, :year, :mintmark, :denomination, :series, :title, :attributes, :currency, haulwright_now(:now))
on conflict do nothing
returning intake_id;

-- name: get
select tenant, intake_id, year, mintmark, denomination, series, title, attributes, currency, created_at
from prices_intakes where tenant = :tenant and intake_id = :intake_id;

-- name: list
-- A page of intakes after a place, of one tenant or of all.
select tenant, intake_id, year, mintmark, denomination, series, title, attributes, currency, created_at
from prices_intakes
where (cast(:tenant as text) is null or tenant = :tenant) and (tenant, intake_id) > (:after_tenant, :after_intake)
order by tenant, intake_id limit :limit;

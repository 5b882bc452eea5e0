-- Valuations.

-- name: get
select version, detail, valued_at from prices_valuations where tenant = :tenant and intake_id = :intake_id;

-- name: versions
-- Every version of a valuation, the newest first.
select version, detail, valued_at from prices_valuation_versions
where tenant = :tenant and intake_id = :intake_id
order by version desc limit :limit;

-- name: list
-- A page of intakes with what they are worth, after a place.
select i.tenant, i.intake_id, i.year, i.mintmark, i.denomination, i.series, i.title, i.attributes, i.currency,
       i.created_at, v.version, v.detail, v.valued_at
from prices_intakes i
left join prices_valuations v on v.tenant = i.tenant and v.intake_id = i.intake_id
where (cast(:tenant as text) is null or i.tenant = :tenant)
  and (i.tenant, i.intake_id) > (:after_tenant, :after_intake)
order by i.tenant, i.intake_id limit :limit;

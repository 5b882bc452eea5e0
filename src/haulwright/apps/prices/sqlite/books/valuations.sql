-- Valuations on SQLite. Whoever writes one has the whole file for itself.

-- name: put
-- One valuation for each intake, and every version of it beside. One that says what the last one said is no new version.
insert into prices_valuations as v (
    tenant, intake_id, version, currency, basis, centre, low, high, spread, count, confidence, detail, valued_at)
values (
    :tenant, :intake_id, 1, :currency, :basis, :centre, :low, :high, :spread, :count, :confidence, :detail, :now)
on conflict (tenant, intake_id) do update
set version = v.version + 1, currency = excluded.currency, basis = excluded.basis, centre = excluded.centre,
    low = excluded.low, high = excluded.high, spread = excluded.spread, count = excluded.count,
    confidence = excluded.confidence, detail = excluded.detail, valued_at = excluded.valued_at
where v.detail <> excluded.detail;
insert into prices_valuation_versions (tenant, intake_id, version, detail, valued_at)
select tenant, intake_id, version, detail, valued_at from prices_valuations
where tenant = :tenant and intake_id = :intake_id
on conflict do nothing
returning version;
